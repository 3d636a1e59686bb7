/** install.sh of a release: what it installs, and what it says of systems on which the one file does not run. */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { LINKS } from '../../../tools/release/links.ts'
import { run } from '../../support/orrery.ts'

const SCRIPT = join(import.meta.dirname, '../../../tools/release/install.sh')
const LINKED = [...LINKS, 'orrery'].sort()
const GOOD = '#!/bin/sh\necho "orrery 1.2.3"\n'

/** A release with this for the one file. */
function release(
  t: Test,
  program: string | Buffer,
): { folder: string; install: (to: string) => ReturnType<typeof run> } {
  const folder = t.testdir({ to: {} })
  copyFileSync(SCRIPT, join(folder, 'install.sh'))
  const name = `orrery-1.2.3-linux-${process.arch}`
  writeFileSync(join(folder, name), program)
  writeFileSync(join(folder, 'SHA256SUMS'), `${createHash('sha256').update(program).digest('hex')}  ${name}\n`)
  return { folder, install: to => run('sh', [join(folder, 'install.sh'), join(folder, to)]) }
}

t.test('it installs the file with the links that make it the plugins', async t => {
  const { folder, install } = release(t, GOOD)
  t.match(await install('to'), { code: 0, out: /^orrery 1\.2\.3\ninstalled in / })
  t.strictSame(readdirSync(join(folder, 'to')).sort(), LINKED)
  for (const name of LINKS) t.equal(readlinkSync(join(folder, 'to', name)), 'orrery')
})

const says = (text: string, code: number): string => `#!/bin/sh\necho "${text}" >&2\nexit ${code}\n`
// The system's own shell, with a loader that is not there.
const noLoader = Buffer.from(readFileSync('/bin/sh').toString('latin1').replace('/ld-linux', '/no-linux'), 'latin1')
const REFUSALS: readonly [what: string, program: string | Buffer, told: RegExp][] = [
  ['no glibc', noLoader, /this system has no glibc\. Take the image, or the npm package/],
  [
    'an old glibc',
    says("orrery: version 'GLIBC_2.28' not found", 1),
    /glibc of this system is too old.* Take the image/,
  ],
  ['a library missing', says('error while loading shared libraries: libatomic.so.1', 127), /apt install libatomic1/],
  ['noexec', says('Permission denied', 126), /mounted noexec.* name another folder/],
  ['something else', says('Segmentation fault', 139), /it does not run here: Segmentation fault/],
]
for (const [what, program, told] of REFUSALS) {
  t.test(`where it does not run it says why: ${what}`, async t => {
    const { folder, install } = release(t, program)
    t.match(await install('to'), { code: 1, out: '', err: told })
    t.strictSame(readdirSync(join(folder, 'to')), [], 'nothing is left there')
  })
}

t.test('what was changed on the way is not installed, and a folder has to be there', async t => {
  const { folder, install } = release(t, GOOD)
  t.match(await install('nowhere'), { code: 1, err: /there is no folder .*nowhere/ })
  writeFileSync(join(folder, `orrery-1.2.3-linux-${process.arch}`), `${GOOD}# changed`)
  t.match(await install('to'), { code: 1, err: /is not what SHA256SUMS says/ })
  mkdirSync(join(folder, 'empty'))
  copyFileSync(SCRIPT, join(folder, 'empty/install.sh'))
  t.match(await run('sh', [join(folder, 'empty/install.sh'), folder]), { code: 1, err: /unpack it first/ })
})
