# Completion of capictl for bash. `capictl completion bash` prints this file, `capictl completion --help` says where to
# put it. The program itself finds what can follow; this only hands over the words and takes the answers.

_capictl() {
    local -a words=()
    local rest=${COMP_LINE:0:COMP_POINT} blanks word i
    # Bash ends words at `:` and `=` too; what stands together without a blank is one word all the same.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        blanks=${rest%%[![:space:]]*}
        rest=${rest#"$blanks"}
        if ((i < COMP_CWORD)); then
            word=${COMP_WORDS[i]}
            rest=${rest#"$word"}
        else
            word=$rest
        fi
        if [[ -z $blanks ]] && ((i > 1)); then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
    done
    word=${words[${#words[@]}-1]}

    # Readline replaces only what follows the last of those characters, or an open quote.
    local breaks=${COMP_WORDBREAKS//[^:=]/} kept= quote=
    [[ -n $breaks && $word == *[$breaks]* ]] && kept=${word%"${word##*[$breaks]}"}
    if [[ ${word#"$kept"} == [\"\']* ]]; then
        quote=${word#"$kept"} quote=${quote:0:1}
    fi
    words=("${words[@]//\\/}")
    words=("${words[@]//[\"\']/}")

    local answer
    COMPREPLY=()
    while IFS= read -r answer; do
        answer=${answer#"$kept"}
        if [[ -z $quote && $answer == *[^[:alnum:]~/=:,.@%+_-]* ]]; then
            printf -v answer %q "$answer"
            answer=${answer/#\\~/\~}
        fi
        COMPREPLY+=("$answer")
    done < <(CAPICTL_COMPLETE=bash command capictl -- "${words[@]}" </dev/null 2>/dev/null)

    # More will follow a folder, a flag's `=`, or the `:` before a version.
    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[/=:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

# Older versions know no `nosort`.
complete -o nosort -F _capictl capictl 2>/dev/null || complete -F _capictl capictl
