/**
 * Files of the program itself: those of its package in a clone and in a package, assets where all of it is one file. The key is its path
 * from the root of the package.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getAsset, isSea } from 'node:sea'
import { PROGRAM_ROOT } from './programRoot.ts'

/** @throws Error when there is no such file */
export function programFile(path: string): string {
  return isSea() ? getAsset(path, 'utf8') : readFileSync(join(PROGRAM_ROOT, path), 'utf8')
}
