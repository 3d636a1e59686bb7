/**
 * `npm run build`: makes the form in which Orrery is released, in `dist/`. Its programs are JavaScript that needs no library
 * but the native one, split so that each sub-command loads its own part. A clone never runs it; `npm pack` packs it.
 */
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, relative } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { PROGRAM_ROOT } from '../src/program/programRoot.ts'
import { BUNDLED_THREADS, THREADS } from '../src/program/startThread.ts'
import { bundlePlugins } from './bundlePlugins.ts'
import { COMMON_OPTIONS } from './commonOptions.ts'
import { licensesOf } from './licenses.ts'

const DIST = 'dist'
const PROGRAMS = ['orrery', 'kubectlWs', 'kubectlKubestellar', 'fillCompileCache']
/** Cannot be in a bundle: it is native, and finds its binary beside itself. */
const NATIVE = ['classic-level']
/** Native helpers that `ws` takes if somebody has installed them. */
const OPTIONAL = ['bufferutil', 'utf-8-validate']
/** CommonJS libraries ask for what Node brings by `require`, which a module has to make for itself. */
const REQUIRE =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

const folder = join(PROGRAM_ROOT, DIST)
rmSync(folder, { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: PROGRAM_ROOT,
  entryPoints: {
    ...Object.fromEntries(PROGRAMS.map(name => [name, `src/cli/${name}.js`])),
    ...Object.fromEntries(
      Object.entries(THREADS).map(([name, file]) => [join(relative(DIST, BUNDLED_THREADS), name), file]),
    ),
  },
  outdir: DIST,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  ...COMMON_OPTIONS,
  external: [...NATIVE, ...OPTIONAL],
  banner: { js: REQUIRE },
  plugins: bundlePlugins,
  metafile: true,
})
assertWhole(metafile)
writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(Object.keys(metafile.inputs)))
execFileSync('sh', ['-c', 'home=. && . bin/run.sh && launch dist/fillCompileCache.js'], {
  cwd: PROGRAM_ROOT,
  stdio: 'inherit',
})
const outputs = Object.values(metafile.outputs)
const bytes = outputs.reduce((sum, output) => sum + output.bytes, 0)
console.log(`dist: ${outputs.length} files, ${(bytes / 1024 / 1024).toFixed(1)} MiB`)

/** @throws Error when something would be looked for in node_modules that is not meant to be there */
function assertWhole({ outputs }: Metafile): void {
  const imports = Object.values(outputs).flatMap(output => output.imports)
  const outside = imports.filter(({ external, path }) => external && !isBuiltin(path)).map(({ path }) => path)
  const unmeant = new Set(outside.filter(path => ![...NATIVE, ...OPTIONAL].includes(path)))
  if (unmeant.size > 0) throw new Error(`the bundle lacks ${[...unmeant].join(', ')}`)
}
