# Completion of capictl for fish. `capictl completion fish` prints this file, `capictl completion --help` says where to
# put it. The program itself finds what can follow; this only hands over the words and takes the answers.

function __capictl_answers
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l word (commandline --current-token --cut-at-cursor)
    # With a quote that is still open, there is nothing to unescape.
    set -l plain (string unescape -- "$word"; or string trim --left --chars '\'"' -- "$word")
    CAPICTL_COMPLETE=fish command capictl -- $words "$plain" </dev/null 2>/dev/null
end

complete --command capictl --no-files --keep-order --arguments '(__capictl_answers)'
