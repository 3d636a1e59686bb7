/** docs/reference: a page of each program, with every command and its flags. */
import type { DescribedCommand } from './commandTree.ts'

const HEAD = `A reference: every command with its flags, as \`--help\` shows them. \`npm run pages\` writes this page.

A command ends with exit code 0 when it did its work, and with 1 when it did not; the message is on standard error. Other codes stand with
their command.
`

/** By file name, such as \`kubectl-ws.md\`. */
export function commandPages(programs: readonly DescribedCommand[]): Map<string, string> {
  return new Map(programs.map(program => [`${program.path.replaceAll(' ', '-')}.md`, commandPage(program)]))
}

function commandPage(program: DescribedCommand): string {
  const [own = '', ...below] = sections(program, 1)
  const [title = '', ...rest] = own.split('\n')
  return [title, '', HEAD.trimEnd(), ...rest, ...below].join('\n')
}

function sections(command: DescribedCommand, level: number): string[] {
  const { path, usage, description, options, notes, commands } = command
  const text = description === '' ? '' : `\n${escaped(`${description[0]!.toUpperCase()}${description.slice(1)}`)}.\n`
  const own = options.filter(({ flags }) => flags !== '-h, --help')
  const table = own.map(option => `| \`${option.flags.replaceAll('|', '\\|')}\` | ${escaped(option.description)} |`)
  const flags = table.length === 0 ? '' : `\n| flag | |\n|---|---|\n${table.join('\n')}\n`
  const after = notes === '' ? '' : `\n\`\`\`text\n${notes}\n\`\`\`\n`
  const line = `${'#'.repeat(Math.min(level, 3))} ${path}\n${text}\n\`\`\`\n${usage}\n\`\`\`\n${flags}${after}`
  return [line.replace(/\.\.\n/, '.\n'), ...commands.flatMap(below => sections(below, level + 1))]
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
}
