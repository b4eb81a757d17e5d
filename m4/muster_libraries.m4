# SPDX-License-Identifier: GPL-2.0-or-later
# MUSTER_LIBRARIES
# Every outside library but Slurm. NAME_CFLAGS and NAME_LIBS go to the one adapter in sys/ that wraps it.
AC_DEFUN([MUSTER_LIBRARIES], [
  PKG_CHECK_MODULES([YAML], [yaml-cpp >= 0.6])
  PKG_CHECK_MODULES([CURL], [libcurl >= 7.68])
  PKG_CHECK_MODULES([SYSTEMD], [libsystemd >= 239])
  PKG_CHECK_MODULES([SQLITE], [sqlite3 >= 3.26])
  PKG_CHECK_MODULES([MICROHTTPD], [libmicrohttpd >= 0.9.71])
  PKG_CHECK_MODULES([CRYPTO], [libcrypto >= 1.1.1])
  _MUSTER_LIBRARY([MUNGE], [munge], [munge.h], [munge_encode], [-lmunge])
  _MUSTER_HEADERS_ONLY([JSON], [nlohmann_json], [nlohmann/json.hpp])
  _MUSTER_HEADERS_ONLY([CLI11], [CLI11], [CLI/CLI.hpp])
])

# _MUSTER_LIBRARY(NAME, PC, HEADER, FUNCTION, LIBS): by pkg-config, otherwise by header and function.
AC_DEFUN([_MUSTER_LIBRARY], [
  PKG_CHECK_MODULES([$1], [$2], [], [
    AC_CHECK_HEADER([$3], [], [AC_MSG_ERROR([$3 not found: install the development files of $2])])
    muster_saved_LIBS=$LIBS
    AC_CHECK_LIB([m4_bpatsubst([$5], [-l])], [$4], [$1][_LIBS=$5],
      [AC_MSG_ERROR([$5 not found: install the development files of $2])])
    LIBS=$muster_saved_LIBS
  ])
])

# _MUSTER_HEADERS_ONLY(NAME, PC, HEADER)
AC_DEFUN([_MUSTER_HEADERS_ONLY], [
  PKG_CHECK_MODULES([$1], [$2], [],
    [AC_CHECK_HEADER([$3], [], [AC_MSG_ERROR([$3 not found: install the development files of $2])])])
])
