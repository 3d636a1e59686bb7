/** A manual page of a command, for man(1): see man(7) for the macros. */
import type { DescribedCommand } from './commandTree.ts'

export interface ManFacts {
  version: string
  date: Date
}

/** By file name (`orrery-start.1`), the pages of a program: its own, and one of each command below it. */
export function manPages(program: DescribedCommand, facts: ManFacts): Map<string, string> {
  const pages = new Map<string, string>()
  const add = (command: DescribedCommand, above: DescribedCommand | undefined): void => {
    pages.set(`${nameOf(command)}.1`, manPage(command, above, facts))
    for (const below of command.commands) add(below, command)
  }
  add(program, undefined)
  return pages
}

function manPage(command: DescribedCommand, above: DescribedCommand | undefined, { version, date }: ManFacts): string {
  const { description, usage, options, notes, commands } = command
  const name = nameOf(command)
  const seeAlso = [...(above ? [above] : []), ...commands].map(each => `.BR ${roff(nameOf(each))} (1)`)
  return [
    `.TH "${name.toUpperCase()}" "1" "${date.toISOString().split('T')[0]}" "Orrery ${version}" "Orrery"`,
    '.SH NAME',
    `${roff(name)} \\- ${roff(description)}`,
    '.SH SYNOPSIS',
    `.B ${roff(usage)}`,
    '.SH OPTIONS',
    ...options.flatMap(option => ['.TP', `.B ${roff(option.flags)}`, roff(option.description)]),
    ...(commands.length === 0 ? [] : ['.SH COMMANDS']),
    ...commands.flatMap(below => ['.TP', `.B ${roff(below.path)}`, roff(below.description)]),
    ...(notes === '' ? [] : ['.SH NOTES', '.nf', roff(notes), '.fi']),
    ...(seeAlso.length === 0 ? [] : ['.SH SEE ALSO', seeAlso.join(',\n')]),
    '',
  ].join('\n')
}

function nameOf({ path }: DescribedCommand): string {
  return path.replaceAll(' ', '-')
}

/** Text as it is: backslashes and hyphens mean something else to roff, as do dots and quotes at the start of a line. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(['.])/gm, '\\&$1')
}
