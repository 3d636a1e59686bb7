/** Answers a shell that asks what may come next. */
import type { Command } from 'commander'
import type { Terminal } from '../terminal.ts'
import { complete, completionText } from './complete.ts'

/** @param words all after the program's name; the last is the one that is completed */
export async function printCompletion(program: Command, words: readonly string[], terminal: Terminal): Promise<number> {
  const completion = await complete(program, words, async query => {
    const { liveNames } = await import('./liveNames.ts')
    return await liveNames(query)
  })
  for (const line of completionText(completion).split('\n')) terminal.out(line)
  return 0
}
