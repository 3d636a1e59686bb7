/**
 * Images of server and syncer, as an OCI layout. They have the one file, the database engine beside it, and the libraries of glibc and C++
 * that these need. They have no shell, no package manager and no root user, and nothing in them has to be written. Made of tar, JSON and
 * sha256, so that a commit makes the same images each time on a system with the same libraries.
 * @see https://github.com/opencontainers/image-spec/blob/main/image-layout.md
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ENVIRONMENT } from '../../src/cli/orrery/process/tunedProcess.ts'
import { addonName } from '../../src/program/addon.ts'
import { LINKS } from './links.ts'
import { type TarEntry, tarFile } from './tarFile.ts'

const USER = 65_532
const BIN = 'usr/local/bin'
/** Where the loader of any distribution looks, whatever else it looks at. */
const LIBRARIES = 'lib'
/** Packages of Debian, each with its terms inside. */
const SYSTEM_PACKAGES = ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1', 'gcc-12-base']
const MEDIA = 'application/vnd.oci.image'

export interface ImagesOptions {
  /** The one file. */
  program: string
  /** The database engine. */
  addon: string
  /** Terms of the program and all that is in it, as text. */
  terms: string
  /** Is made; must not be there. */
  folder: string
  version: string
  commit: string
  date: Date
  /** Level of gzip. */
  level: number
}

interface Blob {
  mediaType: string
  digest: string
  size: number
}

/** Differences between the images. */
const IMAGES = {
  orrery: {
    title: 'Orrery: a configuration server for many Kubernetes clusters',
    Cmd: ['start', '--data-dir', '/data', '--bind-address', '0.0.0.0'],
    ExposedPorts: { '6443/tcp': {} },
  },
  'orrery-syncer': {
    title: 'Orrery syncer: runs beside a cluster',
    Cmd: ['syncer', '--state-dir', '/data'],
    ExposedPorts: {},
  },
} as const

/** Writes the layout; its references are `orrery:<version>` and `orrery-syncer:<version>`. */
export function buildImages(options: ImagesOptions): void {
  const { folder, version, date, level } = options
  mkdirSync(join(folder, 'blobs/sha256'), { recursive: true })
  const put = (mediaType: string, content: Buffer): Blob => {
    const hash = sha256(content)
    writeFileSync(join(folder, 'blobs/sha256', hash), content)
    return { mediaType, digest: `sha256:${hash}`, size: content.length }
  }
  const putJson = (mediaType: string, value: unknown): Blob => put(mediaType, Buffer.from(JSON.stringify(value)))
  const layers = [systemLayer(options.program), programLayer(options)].map(entries => {
    const content = tarFile(entries, date)
    return {
      diffId: `sha256:${sha256(content)}`,
      blob: put(`${MEDIA}.layer.v1.tar+gzip`, gzipSync(content, { level })),
    }
  })
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const created = `${date.toISOString().slice(0, 19)}Z`
  const manifests = Object.entries(IMAGES).map(([name, { title, Cmd, ExposedPorts }]) => {
    const labels = {
      'org.opencontainers.image.title': title,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': options.commit,
      'org.opencontainers.image.created': created,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    }
    const config = putJson(`${MEDIA}.config.v1+json`, {
      created,
      architecture,
      os: 'linux',
      config: {
        User: `${USER}:${USER}`,
        ExposedPorts,
        Env: [`PATH=/${BIN}`, 'HOME=/data', ...Object.entries(ENVIRONMENT).map(([key, value]) => `${key}=${value}`)],
        Entrypoint: [`/${BIN}/orrery`],
        Cmd,
        Volumes: { '/data': {} },
        WorkingDir: '/data',
        Labels: labels,
      },
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
      history: ['the libraries of glibc and C++', 'orrery'].map(comment => ({ created, comment })),
    })
    const manifest = putJson(`${MEDIA}.manifest.v1+json`, {
      schemaVersion: 2,
      mediaType: `${MEDIA}.manifest.v1+json`,
      config,
      layers: layers.map(({ blob }) => blob),
      annotations: labels,
    })
    const annotations = { 'org.opencontainers.image.ref.name': `${name}:${version}` }
    return { ...manifest, platform: { architecture, os: 'linux' }, annotations }
  })
  writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  const index = { schemaVersion: 2, mediaType: `${MEDIA}.index.v1+json`, manifests }
  writeFileSync(join(folder, 'index.json'), JSON.stringify(index))
}

/** Nothing of ours: the same for each release that is made on the same system. */
function systemLayer(program: string): TarEntry[] {
  const text = (path: string, content: string): TarEntry => ({ path, type: 'file', content: Buffer.from(content) })
  const terms = SYSTEM_PACKAGES.map(name => `usr/share/doc/${name}/copyright`).filter(path => existsSync(`/${path}`))
  return [
    ...librariesOf(program),
    ...terms.map((path): TarEntry => ({ path, type: 'file', content: readFileSync(`/${path}`) })),
    text('etc/passwd', `root:x:0:0:root:/:/none\norrery:x:${USER}:${USER}:orrery:/data:/none\n`),
    text('etc/group', `root:x:0:\norrery:x:${USER}:\n`),
    text('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
    { path: 'data', type: 'folder', mode: 0o700, uid: USER, gid: USER },
    // For what container runtimes mount.
    ...['dev', 'proc', 'sys', 'tmp'].map((path): TarEntry => ({ path, type: 'folder' })),
  ]
}

function programLayer({ program, addon, terms }: ImagesOptions): TarEntry[] {
  const engine = readFileSync(addon)
  return [
    { path: `${BIN}/orrery`, type: 'file', mode: 0o755, content: readFileSync(program) },
    { path: `${BIN}/${addonName(engine)}`, type: 'file', content: engine },
    ...LINKS.map((name): TarEntry => ({ path: `${BIN}/${name}`, type: 'link', to: 'orrery' })),
    { path: 'usr/share/doc/orrery/copyright', type: 'file', content: Buffer.from(terms) },
  ]
}

/** As the system's own loader finds them, and that loader where the program says that it is. */
function librariesOf(program: string): TarEntry[] {
  const lines = execFileSync('ldd', [program], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line): TarEntry[] => {
    if (/not found/.test(line)) throw new Error(`this system lacks a library: ${line.trim()}`)
    const found = /^\s*(?:(\S+) => )?(\/\S+) \(/.exec(line)
    if (found === null) return []
    const [, name, path = ''] = found
    const content = readFileSync(path)
    // Without a name it is the loader.
    return [
      {
        path: name === undefined ? path.slice(1) : `${LIBRARIES}/${basename(name)}`,
        type: 'file',
        mode: 0o755,
        content,
      },
    ]
  })
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
