/**
 * The parts of the one file (`src/program/parts.ts`). Each is a script that holds all it needs, but for Node's own modules and the other
 * parts. Code that two parts share is in both; a part knows no objects of another one but its arguments.
 */
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { build, type Plugin, transform } from 'esbuild'
import { ENTRY_ASSET, PART_SCHEME } from '../../src/program/parts.ts'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { THREADS } from '../../src/program/startThread.ts'
import { bundlePlugins } from '../bundlePlugins.ts'
import { COMMON_OPTIONS } from '../commonOptions.ts'

/** By name, the sources whose exports a part has. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  orrery: ['src/cli/orrery/main.ts'],
  server: [
    'src/cli/orrery/server/start.ts',
    'src/cli/orrery/server/simulateWec.ts',
    'src/cli/orrery/store/store.ts',
    'src/cli/orrery/store/storedObject.ts',
  ],
  syncer: ['src/cli/orrery/syncer/syncer.ts', 'src/cli/orrery/syncer/syncerStatusCommand.ts'],
  kubectlWs: ['src/cli/ws/program.ts'],
  kubectlKubestellar: ['src/cli/kubestellar/program.ts'],
  kubeConfigLibrary: ['src/client/kubeConfigLibrary.ts'],
}
const OPTIONAL = ['bufferutil', 'utf-8-validate']
const ENTRY_NAMESPACE = 'part'
/** Nothing is written there. */
const OUT = 'parts'
const FROM_FILE = 'const fromFile="file://"+process.execPath;'

/** Each as a script; with the sources that are in it, as esbuild names them. */
export interface BuiltParts {
  /** By the name of the asset. */
  files: Map<string, Buffer>
  inputs: string[]
}

/** One build, so that esbuild reads each source once. */
export async function buildParts(): Promise<BuiltParts> {
  const { outputFiles, metafile } = await build({
    ...COMMON_OPTIONS,
    absWorkingDir: PROGRAM_ROOT,
    entryPoints: {
      entry: 'src/cli/oneFile.ts',
      ...Object.fromEntries(Object.keys(PARTS).map(name => [name, `${ENTRY_NAMESPACE}:${name}`])),
      ...Object.fromEntries(Object.entries(THREADS).map(([name, source]) => [`threads/${name}`, source])),
    },
    bundle: true,
    write: false,
    format: 'cjs',
    // With these a script says `require` where the sources say `import()`, and has no address of its own.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'fromFile', 'import.meta.filename': 'fromFile', 'import.meta.main': 'false' },
    // The banner is before esbuild's own first line; what it declares is the script's alone.
    banner: { js: FROM_FILE },
    external: [...OPTIONAL],
    plugins: [...bundlePlugins, addonPlugin, threadPlugin, partsPlugin],
    metafile: true,
    outdir: OUT,
    outExtension: { '.js': '.cjs' },
  })
  const files = new Map<string, Buffer>()
  for (const { path, text } of outputFiles) {
    const name = relative(join(PROGRAM_ROOT, OUT), path)
    const ascii = inAscii(text)
    files.set(
      name,
      Buffer.from(name === ENTRY_ASSET ? ascii : `(function(exports,require,module){${ascii}})`, 'latin1'),
    )
  }
  return { files, inputs: Object.keys(metafile.inputs) }
}

/** V8 needs half the memory for such a text. esbuild leaves other letters in regular expressions alone. */
function inAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Entries of the parts, and `import()` of a source that a part has: it loads the part, which runs once. */
const partsPlugin: Plugin = {
  name: 'parts',
  setup(build) {
    const owners = new Map<string, string>()
    for (const [name, sources] of Object.entries(PARTS))
      for (const source of sources) owners.set(join(PROGRAM_ROOT, source), name)
    build.onResolve({ filter: new RegExp(`^${ENTRY_NAMESPACE}:`) }, ({ path }) => ({
      path: path.slice(ENTRY_NAMESPACE.length + 1),
      namespace: ENTRY_NAMESPACE,
    }))
    build.onLoad({ filter: /.*/, namespace: ENTRY_NAMESPACE }, ({ path }) => ({
      contents: PARTS[path]!.map(source => `export * from ${JSON.stringify(`./${source}`)}`).join('\n'),
      resolveDir: PROGRAM_ROOT,
      loader: 'ts',
    }))
    build.onResolve({ filter: /^\./ }, ({ path, kind, resolveDir }) => {
      const owner = kind === 'dynamic-import' ? owners.get(join(resolveDir, path)) : undefined
      return owner === undefined ? undefined : { path: `${PART_SCHEME}${owner}`, external: true }
    })
  },
}

/** A script may not wait, as the module of a thread may: what it does after its imports becomes a function that may. */
const threadPlugin: Plugin = {
  name: 'threads',
  setup(build) {
    const sources = new Set<string>(Object.values(THREADS).map(source => join(PROGRAM_ROOT, source)))
    build.onLoad({ filter: /Thread\.ts$/ }, async ({ path }) => {
      if (!sources.has(path)) return undefined
      // Without types, each import is a statement at the beginning.
      const { code } = await transform(await readFile(path, 'utf8'), { loader: 'ts', target: 'node26' })
      const [imports = ''] = /^(?:import [^;]*;\n)*/.exec(code) ?? []
      return { contents: `${imports}void (async () => {${code.slice(imports.length)}})()`, loader: 'js' }
    })
  },
}

/** The library looks for its addon beside its own file when it is loaded; here it is made ready when it is first used. */
const addonPlugin: Plugin = {
  name: 'addon',
  setup(build) {
    build.onLoad({ filter: /\/classic-level\/binding\.js$/ }, () => ({
      contents: `
        const { loadAddon } = require(${JSON.stringify(join(PROGRAM_ROOT, 'src/program/addon.ts'))})
        const addon = {}
        const late = new Proxy({}, {
          get(_, name) {
            Object.assign(addon, loadAddon())
            Object.setPrototypeOf(addon, Object.prototype)
            return addon[name]
          },
        })
        module.exports = Object.setPrototypeOf(addon, late)`,
      loader: 'js',
    }))
  },
}
