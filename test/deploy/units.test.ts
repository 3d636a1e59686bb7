/** The units: systemd has nothing against them, they are closed to the machine, and they run what there is. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { temporaryDir } from '../support/temporaryDir.ts'

const UNITS = join(PROGRAM_ROOT, 'deploy/systemd')
const ANALYZE = '/usr/bin/systemd-analyze'
const skip = existsSync(ANALYZE) ? false : `this machine has no ${ANALYZE}`
/** Bound of ten: the exposure of a web server's service with the usual settings is about nine. */
const MOST_EXPOSED = 2

const dir = temporaryDir(t)
const files = readdirSync(UNITS).map(name => {
  const text = readFileSync(join(UNITS, name), 'utf8')
  const path = join(dir, name)
  writeFileSync(path, text.replace('/usr/local/bin/orrery', join(PROGRAM_ROOT, 'bin/orrery')))
  return { name, text, path }
})

t.test('systemd has nothing against them', { skip }, async t => {
  t.same(files.map(({ name }) => name).sort(), ['orrery-syncer@.service', 'orrery.service'])
  for (const { name, path } of files) {
    const { status, stdout, stderr } = spawnSync(ANALYZE, ['verify', '--man=no', path], { encoding: 'utf8' })
    t.equal(`${stdout}${stderr}`, '', name)
    t.equal(status, 0, name)
  }
})

t.test('they are closed to the machine', { skip }, async t => {
  for (const { name, path } of files) {
    const { stdout, stderr } = spawnSync(ANALYZE, ['security', '--offline=true', '--no-pager', path], {
      encoding: 'utf8',
    })
    const [, exposure] = /exposure level for \S+: (\d+\.\d+)/.exec(stdout) ?? []
    if (exposure === undefined) t.comment(`this systemd cannot tell: ${stderr}`)
    else t.ok(Number(exposure) <= MOST_EXPOSED, `${name}: ${exposure}`)
  }
})

t.test('the flags that they give are there', async t => {
  for (const { name, text } of files) {
    const [, command = '', rest = ''] = /^ExecStart=\/usr\/local\/bin\/orrery (\S+) (.*)$/m.exec(text) ?? []
    const { stdout } = spawnSync(join(PROGRAM_ROOT, 'bin/orrery'), [command, '--help'], { encoding: 'utf8' })
    for (const [flag] of rest.matchAll(/--[a-z-]+/g)) t.match(stdout, `${flag} `, `${name} ${flag}`)
  }
})
