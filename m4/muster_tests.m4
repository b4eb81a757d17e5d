# SPDX-License-Identifier: GPL-2.0-or-later
# MUSTER_TEST_TOOLS
# Without GoogleTest the unit tests go away with a visible notice, and the scripts still run.
AC_DEFUN([MUSTER_TEST_TOOLS], [
  PKG_CHECK_MODULES([GTEST], [gtest_main >= 1.10], [muster_have_gtest=yes],
    [muster_have_gtest=no
     AC_MSG_WARN([GoogleTest not found: no unit tests])])
  AM_CONDITIONAL([HAVE_GTEST], [test "x$muster_have_gtest" = xyes])

  AC_ARG_ENABLE([fuzz], [AS_HELP_STRING([--enable-fuzz], [build the fuzz targets (needs clang)])],
    [muster_have_fuzzer=$enableval], [muster_have_fuzzer=no])
  AS_IF([test "x$muster_have_fuzzer" = xyes],
    [AX_CHECK_COMPILE_FLAG([-fsanitize=fuzzer-no-link], [SANITIZER_FLAGS="$SANITIZER_FLAGS -fsanitize=fuzzer-no-link"],
       [AC_MSG_ERROR([$CXX has no libFuzzer: --enable-fuzz needs clang++])])])
  AM_CONDITIONAL([FUZZ], [test "x$muster_have_fuzzer" = xyes])
])
