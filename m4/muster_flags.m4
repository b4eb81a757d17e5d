# SPDX-License-Identifier: GPL-2.0-or-later
# MUSTER_WARNINGS
# Probes each warning and collects those that the compiler knows in WARN_CXXFLAGS. Warnings are errors only when asked.
# Not -Wnull-dereference and -Wmaybe-uninitialized: when optimising, g++ 12 finds both inside std::variant, which is in
# every Result and Value. The sanitizers look for the real ones.
AC_DEFUN([MUSTER_WARNINGS], [
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [treat warnings as errors])],
    [muster_werror=$enableval], [muster_werror=no])
  WARN_CXXFLAGS=
  m4_foreach_w([muster_warning],
    [-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
     -Wformat=2 -Wmissing-declarations -Wno-maybe-uninitialized],
    [AX_CHECK_COMPILE_FLAG(muster_warning, [WARN_CXXFLAGS="$WARN_CXXFLAGS muster_warning"], [], [-Werror])])
  AS_IF([test "x$muster_werror" = xyes], [WARN_CXXFLAGS="$WARN_CXXFLAGS -Werror"])
  AX_CHECK_COMPILE_FLAG([-fvisibility=hidden], [VISIBILITY_CXXFLAGS=-fvisibility=hidden], [VISIBILITY_CXXFLAGS=])
  AC_SUBST([WARN_CXXFLAGS])
  AC_SUBST([VISIBILITY_CXXFLAGS])
])

# MUSTER_SANITIZER
# --enable-sanitizer=address,undefined or =thread. The plugins are never sanitized: plain srun could not load them.
AC_DEFUN([MUSTER_SANITIZER], [
  AC_ARG_ENABLE([sanitizer],
    [AS_HELP_STRING([--enable-sanitizer=LIST], [address, undefined, thread; comma separated])],
    [muster_sanitizer=$enableval], [muster_sanitizer=no])
  SANITIZER_FLAGS=
  AS_CASE([$muster_sanitizer],
    [no], [],
    [yes], [AC_MSG_ERROR([--enable-sanitizer needs a list: address,undefined or thread])],
    [*thread*address*|*address*thread*], [AC_MSG_ERROR([the address and the thread sanitizer exclude each other])],
    [SANITIZER_FLAGS="-fsanitize=$muster_sanitizer -fno-omit-frame-pointer"
     AS_CASE([$muster_sanitizer], [*undefined*],
       [SANITIZER_FLAGS="$SANITIZER_FLAGS -fno-sanitize-recover=undefined"])
     AX_CHECK_LINK_FLAG([$SANITIZER_FLAGS], [],
       [AC_MSG_ERROR([$CXX cannot link with $SANITIZER_FLAGS])])])
  AC_SUBST([SANITIZER_FLAGS])
  AC_SUBST([muster_sanitizer])
  AM_CONDITIONAL([SANITIZED], [test "x$muster_sanitizer" != xno])
])

# MUSTER_PLUGIN_FLAGS
# The modules carry the C++ runtime, so that nothing in a user's LD_LIBRARY_PATH decides whether srun works.
AC_DEFUN([MUSTER_PLUGIN_FLAGS], [
  PLUGIN_LDFLAGS=
  m4_foreach_w([muster_link_flag], [-static-libstdc++ -static-libgcc],
    [AX_CHECK_LINK_FLAG(muster_link_flag, [PLUGIN_LDFLAGS="$PLUGIN_LDFLAGS muster_link_flag"],
       [AC_MSG_ERROR([$CXX cannot link the plugins with ]muster_link_flag)])])
  AC_SUBST([PLUGIN_LDFLAGS])
])
