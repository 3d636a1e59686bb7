/**
 * All of the program as one file that needs nothing but glibc: the pinned Node without the data of debuggers. In it are the parts, the code
 * that V8 makes of them, the data and the database engine. The same bytes each time.
 * @see https://nodejs.org/api/single-executable-applications.html
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { FLAGS, FRUGAL_FLAGS } from '../../src/cli/orrery/process/tunedProcess.ts'
import { BUILD_FILE } from '../../src/cli/orrery/version/buildInfo.ts'
import { ADDON } from '../../src/program/addon.ts'
import { ENTRY_ASSET } from '../../src/program/parts.ts'
import { programFile } from '../../src/program/programFile.ts'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { licensesOf } from '../licenses.ts'
import type { BuiltParts } from './parts.ts'
import { strippedElf } from './strippedElf.ts'

/** Where the library has its addon for glibc, by `process.arch`. */
const ADDONS: Readonly<Record<string, string>> = {
  x64: 'linux-x64/classic-level.node',
  arm64: 'linux-arm64/classic-level.armv8.node',
}
const DATA = [
  'package.json',
  'openapi/protobufFields.json',
  'openapi/generated/catalog.json',
  'openapi/generated/descriptions.json',
]
/** So that the code is the same each time: no chance, and no threads that may come first. */
const REPEATABLE = ['--random-seed=1', '--predictable']

export interface OneFileOptions {
  /** Where it is written. */
  path: string
  /** Text of build.json: which commit it is. */
  build: string
  parts: BuiltParts
}

/** @throws Error where this machine is none that a file can be made for */
export function buildOneFile({ path, build, parts: { files } }: OneFileOptions): void {
  if (process.platform !== 'linux') throw new Error('one file is made on Linux, for Linux')
  const folder = mkdtempSync(join(tmpdir(), 'orrery-release-'))
  try {
    const assets: Record<string, string> = { [ADDON]: addonPath() }
    for (const data of DATA) assets[data] = join(PROGRAM_ROOT, data)
    const add = (name: string, content: string | Buffer): void => {
      assets[name] = join(folder, name)
      mkdirSync(dirname(assets[name]), { recursive: true })
      writeFileSync(assets[name], content)
    }
    add(BUILD_FILE, build)
    fillParts(folder, files)
    for (const name of files.keys()) assets[name] = join(folder, name)
    for (const name of readdirSync(folder).filter(name => name.endsWith('.code'))) assets[name] = join(folder, name)

    const node = join(folder, 'node')
    writeFileSync(node, strippedElf(readFileSync(process.execPath)), { mode: 0o755 })
    const config = {
      // Its path becomes part of the file.
      main: ENTRY_ASSET,
      executable: node,
      output: resolve(path),
      disableExperimentalSEAWarning: true,
      useCodeCache: false,
      execArgv: FLAGS,
      execArgvExtension: 'cli',
      assets: Object.fromEntries(Object.entries(assets).sort(([a], [b]) => (a < b ? -1 : 1))),
    }
    writeFileSync(join(folder, 'sea.json'), JSON.stringify(config))
    execFileSync(process.execPath, ['--build-sea', 'sea.json'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Terms of all that is in the file. */
export function termsOf({ inputs }: BuiltParts): string {
  const node = relative(PROGRAM_ROOT, realpathSync(process.execPath)).replace(
    /^(?:\.\.\/)*(?:.*\/)?(?=node_modules\/)/,
    '',
  )
  return `${programFile('LICENSE')}\n${licensesOf([...inputs, 'node_modules/classic-level/index.js', node])}`
}

export function addonPath(): string {
  const name = ADDONS[process.arch]
  if (name === undefined) throw new Error(`there is no database engine for ${process.arch}`)
  return join(PROGRAM_ROOT, 'node_modules/classic-level/prebuilds', name)
}

/** Writes the parts and the code that V8 makes of them. */
export function fillParts(folder: string, files: BuiltParts['files']): void {
  mkdirSync(join(folder, 'threads'))
  for (const [name, text] of files) writeFileSync(join(folder, name), text)
  const parts = [...files.keys()].filter(name => name !== ENTRY_ASSET && dirname(name) === '.')
  const names = parts.map(name => basename(name, '.cjs'))
  fill(FLAGS, folder, names)
  fill([...FLAGS, ...FRUGAL_FLAGS], folder, ['orrery', 'syncer'])
}

function fill(flags: readonly string[], folder: string, parts: readonly string[]): void {
  const script = join(import.meta.dirname, 'fillCodeCache.ts')
  execFileSync(process.execPath, [...flags, ...REPEATABLE, script, folder, ...parts], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { PATH: process.env.PATH },
  })
}
