/** docs/commands.md: every command with its flags. */
import type { DescribedCommand } from './commandTree.ts'

const HEAD = `# Commands

Every command of \`orrery\`, \`kubectl ws\` and \`kubectl kubestellar\` with its flags, as \`--help\` tells them. This page is made by
\`npm run pages\`; what the commands are for stands in [operations.md](operations.md).

A command ends with exit code 0 when it did what it was asked for and with 1 when it did not; the message is on standard error. Where
other codes tell failures apart, it stands with the command.
`

export function commandsPage(programs: readonly DescribedCommand[]): string {
  return [HEAD, ...programs.map(program => sections(program, 2).join('\n'))].join('\n')
}

function sections(command: DescribedCommand, level: number): string[] {
  const { path, usage, description, options, notes, commands } = command
  const said = description === '' ? '' : `\n${escaped(`${description[0]!.toUpperCase()}${description.slice(1)}`)}.\n`
  const own = options.filter(({ flags }) => flags !== '-h, --help')
  const table = own.map(option => `| \`${option.flags.replaceAll('|', '\\|')}\` | ${escaped(option.description)} |`)
  const flags = table.length === 0 ? '' : `\n| flag | |\n|---|---|\n${table.join('\n')}\n`
  const after = notes === '' ? '' : `\n\`\`\`text\n${notes}\n\`\`\`\n`
  const line = `${'#'.repeat(Math.min(level, 4))} ${path}\n${said}\n\`\`\`\n${usage}\n\`\`\`\n${flags}${after}`
  return [line.replace(/\.\.\n/, '.\n'), ...commands.flatMap(below => sections(below, level + 1))]
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
}
