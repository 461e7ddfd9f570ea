#!/bin/sh
# ensure_java.sh: prints the home of a Java 17 or newer, for JAVA_HOME.
# Where none is found it installs one if that needs no question (root or passwordless sudo with apt-get, dnf
# or apk; or Homebrew), and otherwise prints the exact command and exits 1.
# KRAFT_SPEC_NO_INSTALL=1: never install, only say what to type.
set -eu
least=17

say() { printf '%s\n' "kraft-spec: $*" >&2; }

# home_of JAVA: prints the home of that java if it is new enough and has the library that JPype loads.
home_of() {
    settings=$("$1" -XshowSettings:properties -version 2>&1) || return 1
    major=$(printf '%s\n' "$settings" | sed -n 's/^ *java\.specification\.version = //p')
    home=$(printf '%s\n' "$settings" | sed -n 's/^ *java\.home = //p')
    # Java 8 calls itself 1.8, which is not a number for test(1): refused as too old, which it is.
    [ "$major" -ge "$least" ] 2>/dev/null || return 1
    [ -e "$home/lib/server/libjvm.so" ] || [ -e "$home/lib/server/libjvm.dylib" ] || return 1
    printf '%s\n' "$home"
}

find_java() {
    if [ -n "${JAVA_HOME:-}" ]; then
        home_of "$JAVA_HOME/bin/java" && return
    fi
    home_of java && return
    for candidate in ${KRAFT_SPEC_JAVA_SEARCH-/usr/lib/jvm/*/bin/java /opt/homebrew/opt/openjdk*/bin/java \
            /usr/local/opt/openjdk*/bin/java}; do
        home_of "$candidate" && return
    done
    return 1
}

have() { command -v "$1" >/dev/null 2>&1; }

if find_java; then exit 0; fi

# `install` is one shell command; `as_root` says whether it needs to be root.
as_root=yes
if have apt-get; then
    # Newer releases of Debian dropped 17; their default is newer still.
    install='apt-get update -qq && { DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends openjdk-17-jre-headless || DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends default-jre-headless; }'
    by_hand='apt-get update && apt-get install -y openjdk-17-jre-headless   (or default-jre-headless)'
elif have dnf; then
    install='dnf install -q -y java-17-openjdk-headless || dnf install -q -y java-21-openjdk-headless'
    by_hand='dnf install -y java-17-openjdk-headless   (or java-21-openjdk-headless)'
elif have apk; then
    install='apk add --quiet openjdk17-jre-headless'
    by_hand='apk add openjdk17-jre-headless'
elif have brew; then
    as_root=no
    install='brew install --quiet openjdk@17'
    by_hand='brew install openjdk@17'
else
    say "Java $least or newer is needed and none was found (JAVA_HOME, PATH, the usual folders)."
    say "Install a Java $least+ runtime with your system's package manager, or set JAVA_HOME to one."
    exit 1
fi

refuse() {
    say "Java $least or newer is needed and none was found. $1"
    if [ "$as_root" = yes ]; then say "As root, type:  $by_hand"; else say "Type:  $by_hand"; fi
    exit 1
}

[ -z "${KRAFT_SPEC_NO_INSTALL:-}" ] || refuse "KRAFT_SPEC_NO_INSTALL is set, so nothing was installed."
if [ "$as_root" = no ] || [ "$(id -u)" = 0 ]; then
    become=
elif have sudo && sudo -n true 2>/dev/null; then
    become='sudo -n'
else
    refuse "Installing it needs root."
fi

say "no Java $least or newer found: installing one"
# Standard output is for the home alone.
$become sh -c "$install" >&2 </dev/null || refuse "The automatic installation failed (see above)."
find_java || refuse "The package was installed, but no Java $least+ was found afterwards."
