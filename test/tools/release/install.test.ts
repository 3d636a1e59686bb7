/** install.sh of a release: what it installs, and what it says of systems on which the one file does not run. */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { LINKS } from '../../../tools/release/links.ts'
import { tarFile } from '../../../tools/release/tarFile.ts'
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

t.test('it puts the manual pages where man looks for those of such a folder', async t => {
  const { folder, install } = release(t, GOOD)
  const date = new Date('2026-11-22')
  const page = { path: 'man1/orrery-start.1', type: 'file', content: Buffer.from('a page') } as const
  writeFileSync(join(folder, 'orrery-1.2.3-man.tar.gz'), gzipSync(tarFile([page], date)))
  t.notMatch((await install('to')).out, /^manual pages/m, 'beside any other folder there is no place for them')
  mkdirSync(join(folder, 'local/bin'), { recursive: true })
  const { code, out } = await install('local/bin')
  t.match({ code, out }, { code: 0, out: /^manual pages: .*\/local\/share\/man \(man orrery-start\)$/m })
  t.equal(readFileSync(join(folder, 'local/share/man/man1/orrery-start.1'), 'utf8'), 'a page')
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
