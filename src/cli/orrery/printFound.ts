/** What commands of `orrery` say: lines for people, or with `-o` a document for programs. */
import type { Setting } from '../shell/settings.ts'
import type { Terminal } from '../shell/terminal.ts'
import { ANSWERS_VERSION } from '../shell/version.ts'

export const OUTPUT: Setting = {
  flags: '-o, --output <format>',
  description: 'a document for programs',
  choices: ['json', 'yaml'],
  flagOnly: true,
}

/** @param document of a kind of ours, where it names no `apiVersion` */
export async function printFound(
  settings: Readonly<Record<string, unknown>>,
  lines: readonly string[],
  document: object,
  terminal: Terminal,
): Promise<void> {
  const { output } = settings as { output?: 'json' | 'yaml' }
  if (output === undefined) return terminal.out(lines.join('\n'))
  const { printDocument } = await import('../shell/output.ts')
  await printDocument({ apiVersion: ANSWERS_VERSION, ...document }, output, terminal)
}
