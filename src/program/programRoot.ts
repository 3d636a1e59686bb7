/**
 * The folder that the program is in: the one with its package.json, whether it runs as its sources or as the bundle in
 * `dist/`; where all of it is one file, the folder of that. Who looks for a file goes from here, never from where the own file
 * stands: files move, and a bundle has others. What belongs to the program itself is read by `programFile`.
 */
import { findPackageJSON } from 'node:module'
import { dirname } from 'node:path'
import { isSea } from 'node:sea'

export const PROGRAM_ROOT = isSea() ? dirname(process.execPath) : rootOf(import.meta.url)

function rootOf(file: string): string {
  const found = findPackageJSON(file)
  if (found === undefined) throw new Error(`no package.json above ${file}: install Orrery again`)
  return dirname(found)
}
