/**
 * `npm run release`: makes what is released of the commit that is checked out, in `release/`, the same bytes each time. `-- --only
 * file,npm` makes a part of it and keeps the others of the same clean commit. `--url` is the future place of the files, for krew.
 */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { constants, createZstdCompress, gzipSync } from 'node:zlib'
import { buildInfo } from '../../src/cli/orrery/version/buildInfo.ts'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { programVersion } from '../../src/program/programVersion.ts'
import { manual } from '../pages/manual.ts'
import { buildText, releaseDate } from './buildFile.ts'
import { buildImages } from './images.ts'
import { buildKrew } from './krew.ts'
import { buildNpmPackage, pack } from './npmPackage.ts'
import { addonPath, buildOneFile, termsOf } from './oneFile.ts'
import { buildParts } from './parts.ts'
import { RELEASED } from './released.ts'
import { type TarEntry, tarFile } from './tarFile.ts'

const GZIP_LEVEL = 6

const { values } = parseArgs({ options: { only: { type: 'string' }, url: { type: 'string' } } })
const only = new Set(values.only?.split(',') ?? RELEASED.filter(part => part !== 'krew' || values.url !== undefined))
const unknown = [...only].filter(part => !RELEASED.includes(part))
if (unknown.length > 0) refuse(`--only: there is no ${unknown.join(', ')}; there is: ${RELEASED.join(', ')}`)
if (only.has('krew') && values.url === undefined) refuse('krew needs --url: where the files will be found')

const out = join(PROGRAM_ROOT, 'release')
const build = await buildText()
const isClean = build.includes('"gitTreeState":"clean"')
// parts of another commit do not stay
const mark = join(out, '.build')
const isKept = values.only !== undefined && isClean && existsSync(mark) && readFileSync(mark, 'utf8') === build
if (!isKept) rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
writeFileSync(mark, build)
const { version } = programVersion()
const date = releaseDate()
const file = join(out, `orrery-${version}-${process.platform}-${process.arch}`)
const packageFolder = join(out, 'npm')
if (!isClean) console.log('release: the tree differs from its commit, and the release says so')

if (only.has('npm') || only.has('krew')) {
  tell('the npm package')
  await buildNpmPackage({ folder: packageFolder, build, date })
  pack(packageFolder, out)
}
if (['file', 'images', 'krew'].some(part => only.has(part))) {
  tell('the program in one file')
  const parts = await buildParts()
  const terms = termsOf(parts)
  buildOneFile({ path: file, build, parts })
  writeFileSync(join(out, 'LICENSES.txt'), terms)
  copyFileSync(join(import.meta.dirname, 'install.sh'), join(out, 'install.sh'))
  writeFileSync(join(out, `orrery-${version}-man.tar.gz`), manualArchive())
  if (only.has('file')) {
    tell('its compressed form, which takes minutes')
    await compress(file)
  }
  if (only.has('images')) {
    tell('container images')
    images(terms)
  }
  if (only.has('krew')) {
    tell('manifests for krew')
    buildKrew({ program: file, packageFolder, terms, out, url: values.url!, version, date, level: GZIP_LEVEL })
  }
}
const names = readdirSync(out, { withFileTypes: true }).flatMap(entry =>
  entry.isFile() && !['.build', 'SHA256SUMS'].includes(entry.name) ? [entry.name] : [],
)
const sums = names.map(name => `${hashOf(join(out, name))}  ${name}\n`)
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
for (const name of names)
  console.log(`${(statSync(join(out, name)).size / 1024 / 1024).toFixed(1).padStart(6)} MiB  ${name}`)

function tell(what: string): void {
  console.log(`release: makes ${what} (${Math.round(process.uptime())} s)`)
}

function refuse(why: string): never {
  console.error(`release: ${why}`)
  process.exit(1)
}

/** Files that install.sh unpacks where man(1) looks. */
function manualArchive(): Buffer {
  const pages = [...manual({ version, date })]
  const entries = pages.map(([path, text]): TarEntry => ({ path, type: 'file', content: Buffer.from(text) }))
  return gzipSync(tarFile(entries, date), { level: GZIP_LEVEL })
}

/** As a layout, and the same as one archive. */
function images(terms: string): void {
  const folder = join(out, 'images')
  rmSync(folder, { recursive: true, force: true })
  const { commit } = buildInfo()
  buildImages({ program: file, addon: addonPath(), terms, folder, version, commit, date, level: GZIP_LEVEL })
  const blobs = readdirSync(join(folder, 'blobs/sha256')).map(name => `blobs/sha256/${name}`)
  const entries = ['oci-layout', 'index.json', ...blobs].map(
    (path): TarEntry => ({ path, type: 'file', content: readFileSync(join(folder, path)) }),
  )
  writeFileSync(`${file}-images.tar`, tarFile(entries, date))
}

/** The best that Node brings. An installer has `zstd`, or takes the file as it is. */
async function compress(path: string): Promise<void> {
  const params = { [constants.ZSTD_c_compressionLevel]: 19 }
  await pipeline(createReadStream(path), createZstdCompress({ params }), createWriteStream(`${path}.zst`))
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
