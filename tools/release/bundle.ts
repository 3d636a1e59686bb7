/**
 * The form in which npm carries the program: JavaScript that needs no library but the native one. It is split so that each sub-command
 * loads its own part. A clone never runs it.
 */
import { isBuiltin } from 'node:module'
import { join, relative } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { BUNDLED_THREADS, THREADS } from '../../src/program/startThread.ts'
import { bundlePlugins } from '../bundlePlugins.ts'
import { COMMON_OPTIONS } from '../commonOptions.ts'

export const DIST = 'dist'
const PROGRAMS = ['orrery', 'kubectlWs', 'kubectlKubestellar']
/** Entries that programs of others import, by the name of their file. */
export const LIBRARY = { reported: 'src/client/reported/reportedInformer.ts' }
/** Cannot be in a bundle: it is native, and finds its binary beside itself. */
const NATIVE = ['classic-level']
/** Native helpers that `ws` takes if somebody has installed them. */
const OPTIONAL = ['bufferutil', 'utf-8-validate']
/** CommonJS libraries ask for what Node brings by `require`, which a module has to make for itself. */
const REQUIRE =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

/** Writes it to `folder`; which sources are in it, from the program's root. */
export async function buildBundle(folder: string): Promise<string[]> {
  const { metafile } = await build({
    ...COMMON_OPTIONS,
    // The oldest that the package runs on.
    target: 'node22',
    absWorkingDir: PROGRAM_ROOT,
    entryPoints: {
      ...Object.fromEntries(PROGRAMS.map(name => [name, `src/cli/${name}.js`])),
      ...LIBRARY,
      ...Object.fromEntries(
        Object.entries(THREADS).map(([name, file]) => [join(relative(DIST, BUNDLED_THREADS), name), file]),
      ),
    },
    outdir: folder,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    external: [...NATIVE, ...OPTIONAL],
    banner: { js: REQUIRE },
    plugins: bundlePlugins,
    metafile: true,
  })
  assertWhole(metafile)
  return Object.keys(metafile.inputs)
}

/** @throws Error when something would be looked for in node_modules that is not meant to be there */
function assertWhole({ outputs }: Metafile): void {
  const imports = Object.values(outputs).flatMap(output => output.imports)
  const outside = imports.filter(({ external, path }) => external && !isBuiltin(path)).map(({ path }) => path)
  const unmeant = new Set(outside.filter(path => ![...NATIVE, ...OPTIONAL].includes(path)))
  if (unmeant.size > 0) throw new Error(`the bundle lacks ${[...unmeant].join(', ')}`)
}
