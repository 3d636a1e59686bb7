/**
 * The program where all of it is one file. It has a few parts, each a script with all that it needs, loaded on use. A part comes with the
 * code that V8 made of it before, if that was made by the same V8 under the same flags. `tools/release/parts.ts` makes them.
 */
import { getRawAsset, isSea } from 'node:sea'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'

/** How a part names another one. */
export const PART_SCHEME = 'orrery:'

/** Script of a thread that runs a part of its own name: this very script. */
export const ENTRY_ASSET = 'entry.cjs'

type Require = (name: string) => unknown
type Part = (exports: object, require: Require, module: { exports: unknown }) => void

interface PartSource {
  read(name: string): Buffer
  has(name: string): boolean
}

export class Parts {
  /** Everything that was loaded, by name. */
  readonly scripts = new Map<string, Script>()
  readonly #source: PartSource
  readonly #modules = new Map<string, { exports: unknown }>()

  constructor(source: PartSource) {
    this.#source = source
  }

  /** Exports of the part. It runs once. */
  load(name: string): unknown {
    const known = this.#modules.get(name)
    if (known) return known.exports
    const file = `${name}.cjs`
    const code = codeName(name)
    const cachedData = this.#source.has(code) ? this.#source.read(code) : undefined
    // esbuild writes ASCII, so that a character is a byte.
    const text = this.#source.read(file).toString('latin1')
    const script = new Script(text, { filename: `${PART_SCHEME}${file}`, ...(cachedData && { cachedData }) })
    this.scripts.set(name, script)
    const module = { exports: {} }
    this.#modules.set(name, module)
    const run = script.runInThisContext() as Part
    run(module.exports, wanted => this.#require(wanted), module)
    return module.exports
  }

  #require(name: string): unknown {
    if (name.startsWith(PART_SCHEME)) return this.load(name.slice(PART_SCHEME.length))
    const builtin = process.getBuiltinModule(name)
    if (builtin !== undefined) return builtin
    // Libraries ask for some that they can do without.
    throw Object.assign(new Error(`there is no module ${name} in this program`), { code: 'MODULE_NOT_FOUND' })
  }
}

/** V8 takes no code of another V8, nor of one under other flags. */
export function codeName(part: string): string {
  return `${part}.${cachedDataVersionTag()}.code`
}

/** The parts in the one file that runs. Bytes are not copied: nobody may change them. */
export function ownParts(keys: ReadonlySet<string>): Parts {
  return new Parts({
    read: name => Buffer.from(getRawAsset(name) as ArrayBuffer),
    has: name => isSea() && keys.has(name),
  })
}
