/** All manual pages, as a folder `man` that man(1) is pointed at, npm links, and a release carries. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandTree } from './commandTree.ts'
import { type ManFacts, manPages } from './manPage.ts'

/** By their path in that folder (`man1/orrery-start.1`). */
export function manual(facts: ManFacts): Map<string, string> {
  const pages = commandTree().flatMap(program => [...manPages(program, facts)])
  return new Map(pages.map(([file, text]) => [`man1/${file}`, text] as const).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Makes the folder anew. @returns the paths in it */
export function writeManual(folder: string, facts: ManFacts): string[] {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'man1'), { recursive: true })
  const pages = manual(facts)
  for (const [path, text] of pages) writeFileSync(join(folder, path), text)
  return [...pages.keys()]
}
