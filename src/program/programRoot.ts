/**
 * The folder of the program. It is the one with its package.json, for its sources and for the bundle in `dist/`; for the one file it is
 * that file's. Paths of files start here, never at a source's own place: files move, and a bundle has others. `programFile` reads the
 * program's own files.
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
