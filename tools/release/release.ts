/**
 * `npm run release`: makes what is released of the commit that is checked out, in `release/`, the same bytes each time.
 * `-- --only file` makes a part of it.
 */
import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
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
import { constants, createZstdCompress } from 'node:zlib'
import { buildInfo } from '../../src/cli/buildInfo.ts'
import { programVersion } from '../../src/cli/programVersion.ts'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { buildText, releaseDate } from './buildFile.ts'
import { buildImages } from './images.ts'
import { buildNpmPackage, pack } from './npmPackage.ts'
import { addonPath, buildOneFile, termsOf } from './oneFile.ts'
import { buildParts } from './parts.ts'
import { type TarEntry, tarFile } from './tarFile.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(PROGRAM_ROOT, 'release') },
    only: { type: 'string', default: 'file,npm,images' },
  },
})
const { out } = values
const only = new Set(values.only.split(','))
const { version } = programVersion()
const machine = `${process.platform}-${process.arch}`
rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const build = await buildText()
if (!build.includes('"gitTreeState":"clean"'))
  console.log('release: the tree differs from its commit, and the release says so')

if (only.has('npm')) {
  const folder = join(out, 'npm')
  await buildNpmPackage({ folder, build })
  pack(folder, out)
}
const file = join(out, `orrery-${version}-${machine}`)
const parts = await buildParts()
if (only.has('file') || only.has('images')) {
  buildOneFile({ path: file, build, parts })
  writeFileSync(join(out, 'LICENSES.txt'), termsOf(parts))
}
if (only.has('file')) await compress(file)
if (only.has('images')) {
  const folder = join(out, 'images')
  buildImages({
    program: file,
    addon: addonPath(),
    terms: termsOf(parts),
    folder,
    version,
    commit: buildInfo().commit,
    date: releaseDate(),
    level: 9,
  })
  const paths = [
    'oci-layout',
    'index.json',
    ...readdirSync(join(folder, 'blobs/sha256')).map(name => `blobs/sha256/${name}`),
  ]
  const entries = paths.map((path): TarEntry => ({ path, type: 'file', content: readFileSync(join(folder, path)) }))
  writeFileSync(`${file}-images.tar`, tarFile(entries, releaseDate()))
}
const files = readdirSync(out, { withFileTypes: true }).filter(entry => entry.isFile())
const lines = files.map(
  ({ name }) =>
    `${createHash('sha256')
      .update(readFileSync(join(out, name)))
      .digest('hex')}  ${name}\n`,
)
writeFileSync(join(out, 'SHA256SUMS'), lines.join(''))
for (const { name } of files)
  console.log(`${(statSync(join(out, name)).size / 1024 / 1024).toFixed(1).padStart(6)} MiB  ${name}`)

/** The best that Node brings. Whoever installs it has `zstd`, or takes the file as it is. */
async function compress(path: string): Promise<void> {
  const params = { [constants.ZSTD_c_compressionLevel]: 19 }
  await pipeline(createReadStream(path), createZstdCompress({ params }), createWriteStream(`${path}.zst`))
}
