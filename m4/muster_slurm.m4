# SPDX-License-Identifier: GPL-2.0-or-later
# MUSTER_SLURM
# Slurm by pkg-config (SchedMD's packages), otherwise by header and -lslurm (Debian has no .pc). The version comes from
# the header by AC_COMPUTE_INT, which works when cross-compiling too.
AC_DEFUN([MUSTER_SLURM], [
  PKG_CHECK_MODULES([SLURM], [slurm], [muster_slurm_found="by pkg-config"], [
    AC_CHECK_HEADER([slurm/slurm.h], [], [AC_MSG_ERROR([slurm/slurm.h not found: install libslurm-dev or slurm-devel])])
    muster_saved_LIBS=$LIBS
    AC_CHECK_LIB([slurm], [slurm_load_node], [SLURM_LIBS=-lslurm],
      [AC_MSG_ERROR([libslurm not found: install libslurm-dev or slurm-devel])])
    LIBS=$muster_saved_LIBS
    muster_slurm_found="by header"
  ])
  muster_saved_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $SLURM_CFLAGS"
  _MUSTER_SLURM_PART([major], [SLURM_VERSION_MAJOR])
  _MUSTER_SLURM_PART([minor], [SLURM_VERSION_MINOR])
  _MUSTER_SLURM_PART([micro], [SLURM_VERSION_MICRO])
  CPPFLAGS=$muster_saved_CPPFLAGS
  muster_slurm_version=`printf '%02d.%02d.%d' "$muster_slurm_major" "$muster_slurm_minor" "$muster_slurm_micro"`
  AS_IF([test "$muster_slurm_major$(printf %02d "$muster_slurm_minor")" -lt 2205],
    [AC_MSG_ERROR([Slurm $muster_slurm_version is too old: 22.05 or newer is needed])])
  AC_SUBST([muster_slurm_version])
  _MUSTER_SLURM_COMPARE

  AC_ARG_WITH([slurm-plugindir], [AS_HELP_STRING([--with-slurm-plugindir=DIR], [folder of Slurm's plugins])],
    [slurmplugindir=$withval],
    [AC_MSG_CHECKING([for Slurm's plugin folder])
     muster_multiarch=`$CXX -print-multiarch 2>/dev/null`
     AS_IF([test -n "$muster_multiarch" && test -d "/usr/lib/$muster_multiarch/slurm-wlm"],
       [slurmplugindir="/usr/lib/$muster_multiarch/slurm-wlm"], [slurmplugindir='${libdir}/slurm'])
     AC_MSG_RESULT([$slurmplugindir])])
  AC_SUBST([slurmplugindir])
])

# _MUSTER_SLURM_PART(PART, FROM-RIGHT): slurm_version.h has only the packed number, 0xMMmmpp.
AC_DEFUN([_MUSTER_SLURM_PART], [
  AC_CACHE_CHECK([for $2], [muster_cv_slurm_$1],
    [AC_COMPUTE_INT([muster_cv_slurm_$1], [$2(SLURM_VERSION_NUMBER)], [#include <slurm/slurm_version.h>],
       [AC_MSG_ERROR([slurm/slurm_version.h has no $2])])])
  muster_slurm_$1=$muster_cv_slurm_$1
])

# The SPANK module must match Slurm's major.minor and the job_submit module major.minor.micro, so a header of another
# version than the installed commands is worth a word.
AC_DEFUN([_MUSTER_SLURM_COMPARE], [
  AC_ARG_ENABLE([slurm-version-check],
    [AS_HELP_STRING([--enable-slurm-version-check], [refuse to build when srun has another version than the headers])],
    [], [enable_slurm_version_check=no])
  muster_srun_version=`srun --version 2>/dev/null | $AWK '{print @S|@2; exit}'`
  AS_CASE([$muster_srun_version],
    ['' | "$muster_slurm_version" | "$muster_slurm_version"-*], [],
    [AS_IF([test "x$enable_slurm_version_check" = xyes],
       [AC_MSG_ERROR([srun is $muster_srun_version, the headers are $muster_slurm_version])],
       [AC_MSG_WARN([srun is $muster_srun_version, the headers are $muster_slurm_version: slurmctld will not load the job_submit module])])])
])
