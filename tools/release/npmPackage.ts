/**
 * The npm package: the bundle and its data, with programs that npm links on every system, and without the Node.js that a clone brings. Its
 * users have one. Programs of others import `reportedInformer`.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BUILD_FILE } from '../../src/cli/orrery/version/buildInfo.ts'
import { COMPLETE } from '../../src/cli/shell/completion/scripts.ts'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { programVersion } from '../../src/program/programVersion.ts'
import { licensesOf } from '../licenses.ts'
import { writeManual } from '../pages/manual.ts'
import { buildBundle, DIST } from './bundle.ts'
import type { LINKS } from './links.ts'

/** The LTS releases that it was tested on: 22, 24 and 26, each from where it has what the server asks of threads. */
export const ENGINES = '^22.20.0 || >=24.6.0'
/** By its name on the PATH, the entry in the bundle, and what is put before its arguments. */
const PROGRAMS: Readonly<Record<'orrery' | (typeof LINKS)[number], readonly [entry: string, first?: string]>> = {
  orrery: ['orrery'],
  'kubectl-ws': ['kubectlWs'],
  'kubectl-kubestellar': ['kubectlKubestellar'],
  'kubectl_complete-ws': ['kubectlWs', COMPLETE],
  'kubectl_complete-kubestellar': ['kubectlKubestellar', COMPLETE],
}
const NATIVE = 'classic-level'
const API = 'src/client/reported/api.ts'
const DATA = ['openapi/protobufFields.json', 'openapi/generated/catalog.json', 'openapi/generated/descriptions.json']

const README = `# Orrery

A configuration server for many Kubernetes clusters: spaces that behave like a Kubernetes API server of their own, placement
by labels, and a syncer beside each cluster.

    npm install -g orrery
    orrery start                  # the server; its data goes to .orrery
    kubectl ws tree               # the kubectl plugins are installed with it
    kubectl kubestellar --help

A program follows what clusters report, each object with its location:

    import { reportedInformer } from 'orrery'

It runs on Node.js ${ENGINES} on Linux. The kubectl plugins also run on macOS and Windows.
LICENSES.txt has the terms of the libraries inside.
`

export interface NpmPackageOptions {
  /** Is made anew. */
  folder: string
  /** Text of build.json. */
  build: string
  /** On its manual pages. */
  date: Date
}

export async function buildNpmPackage({ folder, build, date }: NpmPackageOptions): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'bin'), { recursive: true })
  const inputs = await buildBundle(join(folder, DIST))
  const api = readFileSync(join(PROGRAM_ROOT, API), 'utf8')
  writeFileSync(
    join(folder, DIST, 'reported.d.ts'),
    `${api}\nexport declare const reportedInformer: ReportedInformerOf\n`,
  )
  for (const path of [...DATA, 'LICENSE']) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    copyFileSync(join(PROGRAM_ROOT, path), join(folder, path))
  }
  for (const name of ['launcher.cjs', 'load.cjs'])
    copyFileSync(join(import.meta.dirname, name), join(folder, 'bin', name))
  for (const [name, entry] of Object.entries(PROGRAMS)) {
    const given = [name, ...entry].map(word => `'${word}'`).join(', ')
    const text = `#!/usr/bin/env node\nrequire('./launcher.cjs')(${given})\n`
    writeFileSync(join(folder, `bin/${name}.cjs`), text, { mode: 0o755 })
  }
  const pages = writeManual(join(folder, 'man'), { version: programVersion().version, date })
  writeFileSync(join(folder, BUILD_FILE), build)
  writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(inputs))
  writeFileSync(join(folder, 'README.md'), README)
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(pages), undefined, 2)}\n`)
}

/** Packs the folder; the path of the archive. */
export function pack(folder: string, destination: string): string {
  const args = ['pack', folder, '--pack-destination', destination, '--json', '--ignore-scripts']
  const output = execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const [packed] = Object.values(JSON.parse(output) as Record<string, { filename: string }>)
  return join(destination, packed!.filename)
}

function manifest(pages: readonly string[]): Record<string, unknown> {
  const own = JSON.parse(readFileSync(join(PROGRAM_ROOT, 'package.json'), 'utf8')) as Record<string, unknown>
  const { name, version, description, license, type, dependencies } = own
  return {
    ...{ name, version, description, license, type },
    bin: Object.fromEntries(Object.keys(PROGRAMS).map(program => [program, `bin/${program}.cjs`])),
    exports: {
      '.': { types: `./${DIST}/reported.d.ts`, default: `./${DIST}/reported.js` },
      './package.json': './package.json',
    },
    man: pages.map(path => `man/${path}`),
    engines: { node: ENGINES },
    dependencies: { [NATIVE]: (dependencies as Record<string, string>)[NATIVE] },
  }
}
