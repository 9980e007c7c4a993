# Completion of capictl for elvish. `capictl completion elvish` prints this file, `capictl completion --help` says where
# to put it. The program itself finds what can follow; this only hands over the words and takes the answers.

set edit:completion:arg-completer[capictl] = {|@words|
  tmp E:CAPICTL_COMPLETE = elvish
  (external capictl) -- $@words </dev/null 2>/dev/null | from-lines
}
