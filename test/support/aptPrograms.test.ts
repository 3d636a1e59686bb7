/** Fate of a test whose programs a machine lacks. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { lacking } from './aptPrograms.ts'
import { temporaryDir } from './server.ts'

/** A machine without the program, and with an apt that does so. */
function machine(t: Test, does: string) {
  const dir = temporaryDir(t)
  const [program, apt, log] = [join(dir, 'squid'), join(dir, 'apt-get'), join(dir, 'log')]
  writeFileSync(
    apt,
    `#!/bin/sh\necho "\${*##*Timeout=10 }" >> ${log}\nprogram=${program}\nlists=${dir}/lists\n${does}\n`,
  )
  chmodSync(apt, 0o755)
  const asked = (): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
  return { program, asked, lacking: (isRoot: boolean) => lacking({ [program]: 'squid-pkg' }, { isRoot, apt }) }
}
const INSTALL = 'install --yes --no-install-recommends squid-pkg'

t.test('what is there is used, and nothing is installed', async t => {
  const { program, asked, lacking } = machine(t, 'exit 1')
  writeFileSync(program, '')
  t.equal(lacking(true), false)
  t.same(asked(), [])
})

t.test('what is missing is installed where root allows it', async t => {
  const { asked, lacking } = machine(t, 'touch "$program"')
  t.equal(lacking(true), false)
  t.same(asked(), [INSTALL])
})

t.test('lists that are missing are fetched first', async t => {
  const { asked, lacking } = machine(
    t,
    'case "$*" in *update) touch "$lists" ;; *) [ -e "$lists" ] && touch "$program" ;; esac',
  )
  t.equal(lacking(true), false)
  t.same(asked(), [INSTALL, 'update', INSTALL])
})

t.test('else it says why it is skipped', async t => {
  const user = machine(t, 'touch "$program"')
  t.match(user.lacking(false), /^this machine has no \S+squid, and only root can run: apt-get install squid-pkg$/)
  t.same(user.asked(), [])
  const offline = machine(t, 'exit 100')
  t.match(offline.lacking(true), /^this machine has no \S+squid, and apt could not install squid-pkg: Command failed/)
  const other = machine(t, 'true')
  t.match(other.lacking(true), /^the packages squid-pkg have no \S+squid$/)
})
