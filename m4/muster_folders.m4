# SPDX-License-Identifier: GPL-2.0-or-later
# MUSTER_FOLDERS
# Folders that other packages decide: systemd's, and the ones of the running system. systemd puts RuntimeDirectory= and
# StateDirectory= below /run and /var/lib whatever our prefix is, so these two follow the prefix only when asked to.
AC_DEFUN([MUSTER_FOLDERS], [
  AS_IF([test "x$localstatedir" = 'x${prefix}/var'], [localstatedir=/var])
  AS_IF([test "x$runstatedir" = x || test "x$runstatedir" = 'x${localstatedir}/run'], [runstatedir=/run])
  AC_SUBST([runstatedir])
  muster_rundir="$runstatedir/muster"
  muster_statedir="$localstatedir/lib/muster"
  AC_SUBST([muster_rundir])
  AC_SUBST([muster_statedir])
  _MUSTER_SYSTEMD_FOLDER([systemdsystemunitdir], [systemd_system_unit_dir], [lib/systemd/system], [systemd units])
])

# _MUSTER_SYSTEMD_FOLDER(VARIABLE, PC-VARIABLE, FALLBACK-BELOW-PREFIX, WHAT)
AC_DEFUN([_MUSTER_SYSTEMD_FOLDER], [
  AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1=DIR], [folder of $4])], [$1=$withval], [$1=])
  AS_IF([test "x$$1" = x], [$1=`$PKG_CONFIG --variable=$2 systemd 2>/dev/null`])
  AS_IF([test "x$$1" = x], [$1='${prefix}/$3'])
  AC_SUBST([$1])
])
