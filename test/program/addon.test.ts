/** The database engine of the one file: the loaded file, and the error where that fails. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type AddonOptions, addonName, loadAddonFrom } from '../../src/program/addon.ts'

const BYTES = Buffer.from('an engine')
const NAME = addonName(BYTES)

function options(t: Test, load: AddonOptions['load'] = path => readFileSync(path, 'utf8')): AddonOptions {
  const root = t.testdir({ program: {} })
  return { bytes: BYTES, besideProgram: join(root, 'program'), folder: join(root, 'data'), load }
}

t.test('it is written once, and found again', async t => {
  const given = options(t)
  t.equal(loadAddonFrom(given), 'an engine')
  t.strictSame(readdirSync(given.folder), [NAME])
  writeFileSync(join(given.folder, 'classic-level-0123456789abcdef.node'), 'of an earlier release')
  writeFileSync(join(given.folder, 'store'), 'not its own')
  t.equal(loadAddonFrom(given), 'an engine')
  t.strictSame(readdirSync(given.folder).sort(), [NAME, 'store'], 'that of an earlier release goes')
})

t.test('one beside the program is taken, and nothing is written', async t => {
  const given = options(t)
  writeFileSync(join(given.besideProgram, NAME), BYTES)
  t.equal(loadAddonFrom({ ...given, load: path => path }), join(given.besideProgram, NAME))
  t.throws(() => readdirSync(given.folder), { code: 'ENOENT' })
})

t.test('one whose hash differs is refused, wherever it is', async t => {
  const given = options(t, () => t.fail('loaded'))
  mkdirSync(given.folder)
  writeFileSync(join(given.folder, NAME), 'another')
  t.throws(() => loadAddonFrom(given), /data\/classic-level-\w+\.node is not the one .* sha256 is \w{64}.* delete it/)
  writeFileSync(join(given.besideProgram, NAME), 'another')
  t.throws(() => loadAddonFrom(given), /program\/classic-level-\w+\.node is not .* put the one of this release there/)
})

t.test('a folder in its place is named', async t => {
  const given = options(t)
  mkdirSync(join(given.folder, NAME), { recursive: true })
  t.throws(() => loadAddonFrom(given), /data\/classic-level-\w+\.node cannot be read: EISDIR.* Delete it/)
})

t.test('a file system that runs nothing, or takes nothing, is named with the way out', async t => {
  const noexec = options(t, () => {
    throw new Error('x.node: failed to map segment from shared object: Operation not permitted')
  })
  t.throws(() => loadAddonFrom(noexec), /mounted noexec .*\(cp \S+\/data\/classic-level-\w+\.node \S+\/program\//)
  const quoted = { ...noexec, folder: join(noexec.folder, "it's here") }
  t.throws(() => loadAddonFrom(quoted), /\(cp '\S+\/data\/it'\\''s here\/classic-level-\w+\.node' \S+\/program\/\)/)
  const other = options(t, () => {
    throw new Error('undefined symbol: napi_new')
  })
  t.throws(() => loadAddonFrom(other), /classic-level-\w+\.node cannot be loaded: undefined symbol/)
  const file = options(t)
  writeFileSync(file.folder, 'a file where the folder should be')
  t.throws(() => loadAddonFrom(file), /cannot be written to \S+\/data\/classic-level.* Make the folder writable/)
})
