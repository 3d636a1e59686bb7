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
import { programVersion } from '../../src/cli/programVersion.ts'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { buildText } from './buildFile.ts'
import { buildNpmPackage, pack } from './npmPackage.ts'
import { buildOneFile } from './oneFile.ts'
import { buildParts } from './parts.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(PROGRAM_ROOT, 'release') },
    only: { type: 'string', default: 'file,npm' },
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
if (only.has('file')) {
  const file = join(out, `orrery-${version}-${machine}`)
  buildOneFile({ path: file, build, parts: await buildParts() })
  await pipeline(
    createReadStream(file),
    createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 19 } }),
    createWriteStream(`${file}.zst`),
  )
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
