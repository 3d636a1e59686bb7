/**
 * The plugins as krew, kubectl's manager of plugins, installs them: archives, and a manifest for each plugin. On Linux a plugin is the one
 * file under another name; on macOS it is JavaScript for the Node.js that is there. On Windows krew gives its files the name of a program,
 * which JavaScript is not: there npm installs them.
 * @see https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { stringify } from 'yaml'
import { type TarEntry, tarFile } from './tarFile.ts'

const PLUGINS = {
  ws: {
    short: 'Move between spaces of an Orrery server',
    description:
      'Enters, lists, makes and deletes spaces (workspaces) of an Orrery or kcp-like server. Each behaves like a Kubernetes\nAPI server of its own; the current one is kept in the kubeconfig.',
  },
  kubestellar: {
    short: 'Inventory, workload spaces and syncers of Orrery',
    description:
      'Brings clusters into the inventory of an Orrery server, makes spaces for workloads, and asks what goes to which\ncluster, and why.',
  },
} as const

export interface KrewOptions {
  /** The one file. */
  program: string
  /** Folder of the npm package. */
  packageFolder: string
  terms: string
  /** Where archives and manifests are written. */
  out: string
  /** Where the archives will be found, without their names. */
  url: string
  version: string
  date: Date
  /** Level of gzip. */
  level: number
}

export function buildKrew(options: KrewOptions): void {
  const { out, version, terms } = options
  const licence: TarEntry = { path: 'LICENSE', type: 'file', content: Buffer.from(terms) }
  const program: TarEntry = { path: 'orrery', type: 'file', mode: 0o755, content: readFileSync(options.program) }
  const machine = process.arch === 'x64' ? 'amd64' : process.arch
  const oneFile = archive(`orrery-plugins-${version}-linux-${machine}.tar.gz`, [program, licence], options)
  const scripts = archive(`orrery-plugins-${version}-node.tar.gz`, scriptEntries(options.packageFolder), options)
  mkdirSync(join(out, 'krew'), { recursive: true })
  for (const [name, { short, description }] of Object.entries(PLUGINS)) {
    const platform = (os: string, arch: string, from: Archive, bin: string): Record<string, unknown> => ({
      selector: { matchLabels: { os, arch } },
      ...from,
      bin,
    })
    const script = `bin/kubectl-${name}.cjs`
    const manifest = {
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
      metadata: { name },
      spec: {
        version: `v${version}`,
        homepage: options.url,
        shortDescription: short,
        description: `${description}\n`,
        caveats: 'On macOS it needs Node.js 22, 24 or 26 on the PATH.\n',
        platforms: [
          platform('linux', machine, oneFile, 'orrery'),
          platform('darwin', 'amd64', scripts, script),
          platform('darwin', 'arm64', scripts, script),
        ],
      },
    }
    writeFileSync(join(out, 'krew', `${name}.yaml`), stringify(manifest, { blockQuote: 'literal', lineWidth: 0 }))
  }
}

interface Archive {
  uri: string
  sha256: string
}

function archive(name: string, entries: readonly TarEntry[], { out, url, date, level }: KrewOptions): Archive {
  const content = gzipSync(tarFile(entries, date), { level })
  writeFileSync(join(out, name), content)
  return { uri: `${url}/${name}`, sha256: createHash('sha256').update(content).digest('hex') }
}

/** All of the package: what a plugin does not need of it is small. */
function scriptEntries(folder: string): TarEntry[] {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter(entry => entry.isFile())
  return files.map(({ parentPath, name }): TarEntry => {
    const path = join(parentPath, name)
    const isProgram = basename(parentPath) === 'bin'
    return {
      path: path.slice(folder.length + 1),
      type: 'file',
      mode: isProgram ? 0o755 : 0o644,
      content: readFileSync(path),
    }
  })
}
