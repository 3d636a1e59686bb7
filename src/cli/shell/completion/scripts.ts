/** Scripts by which shells complete command lines of `orrery`: they call the program itself and show its answer. */
/** The sub-command by which shells ask what may come next, as cobra calls it: kubectl and others know it by that name. */
export const COMPLETE = '__complete'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** Bash breaks words at colons and equals signs, of which paths and flags have some: only what follows the last one is replaced. */
const BASH = `# bash completion of orrery
_orrery() {
  local line=\${COMP_LINE:0:COMP_POINT} words=() out=() value word directive
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  word=\${words[-1]}
  local lead=\${word%"\${word##*[:=]}"}
  mapfile -t out < <(orrery ${COMPLETE} "\${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  ((\${#out[@]} > 0)) || return 0
  directive=\${out[-1]#:}
  for value in "\${out[@]:0:\${#out[@]}-1}"; do
    value=\${value%%$'\\t'*}
    COMPREPLY+=("\${value#"$lead"}")
  done
  if [[ $directive == 0 ]]; then compopt -o default 2>/dev/null; fi
  return 0
}
complete -F _orrery orrery
`

const ZSH = `#compdef orrery
_orrery() {
  local -a out values
  local line
  out=("\${(@f)$(orrery ${COMPLETE} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  (( \${#out} > 0 )) || return 0
  for line in "\${(@)out[1,-2]}"; do
    if [[ $line == *$'\\t'* ]]; then values+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    else values+=("\${line//:/\\\\:}"); fi
  done
  (( \${#values} > 0 )) && _describe 'orrery' values
  [[ $out[-1] == ':0' ]] && _files
  return 0
}
if [[ $funcstack[1] == _orrery ]]; then _orrery "$@"; else compdef _orrery orrery; fi
`

const FISH = `# fish completion of orrery
function __orrery_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l out (orrery ${COMPLETE} $words[2..] 2>/dev/null)
  test (count $out) -gt 0; or return
  if test $out[-1] = ':0'
    __fish_complete_path (commandline -ct)
  end
  printf '%s\\n' $out[1..-2]
end
complete -c orrery -f -a '(__orrery_complete)'
`

export function completionScript(shell: Shell): string {
  return { bash: BASH, zsh: ZSH, fish: FISH }[shell]
}
