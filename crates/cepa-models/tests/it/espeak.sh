#!/bin/sh
# Stands in for espeak-ng. `-v KIND:FILE` says what it does, and where it writes its process id.
[ "$5" = -q ] && exit 0
echo $$ >"${2#*:}"
wav() {
    printf 'RIFF\044\360\377\177WAVEfmt \020\000\000\000\001\000\001\000\042\126\000\000\104\254\000\000\002\000\020\000data\000\360\377\177'
}
case ${2%%:*} in
endless) wav && exec cat /dev/zero ;;
real) exec espeak-ng -v en-us -b 1 --stdin --stdout ;;
hangs) exec sleep 1000 ;;
voiceless) echo no such voice >&2 && exit 1 ;;
breathless) cat >/dev/null && wav && printf abcd && echo out of breath >&2 && exit 3 ;;
mute) cat >/dev/null && exit 7 ;;
empty) cat >/dev/null ;;
text) cat >/dev/null && echo this is not a WAV file ;;
esac
