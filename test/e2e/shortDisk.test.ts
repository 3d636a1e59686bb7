/** On a real disk that is nearly full: growth is refused, deletions go on, and the next start finds room. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Api } from '../support/api.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { accessOf, CONFIGMAPS, configMap, temporaryDir } from '../support/server.ts'
import { Command } from '../syncer/support/processes.ts'

const MIB = 1024 * 1024

/** A disk of memory at a folder; whether this machine lets us have one. */
function mount(folder: string, mib: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m`, 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const folder = temporaryDir(t)
const skip = mount(folder, 160) ? false : 'who runs this may not mount a disk'
if (skip === false) t.teardown(() => void execFileSync('umount', [folder]))

t.test('a full disk stops growth, and nothing else', { skip, timeout: FILE_LIMIT_MS }, async t => {
  const dataDir = join(folder, 'data')
  const open = async () => {
    const orrery = new Command(t, ['start', '--data-dir', dataDir, '--secure-port', '0'])
    await orrery.said('orrery ready')
    const api = new Api(accessOf(join(dataDir, 'admin.kubeconfig')))
    t.teardown(() => api.close())
    return { orrery, api }
  }
  const big = (name: string) => configMap(name, { text: randomBytes(450_000).toString('hex') })
  const first = await open()
  let made = 0
  let last = 201
  while (last === 201 && made < 200) last = (await first.api.post(CONFIGMAPS, big(`big-${made++}`))).code
  t.equal(last, 507)
  t.ok(statfsSync(folder).bavail * statfsSync(folder).bsize > 32 * MIB, 'the reserve is there')
  t.match(await first.api.get('/readyz'), { code: 200 })
  t.equal((await first.api.delete(`${CONFIGMAPS}/big-0`)).code, 200)
  t.equal(await first.orrery.end(), 0)
  first.api.close()

  // somebody else takes some of it; what is left is more than is stored, which LevelDB may write anew at any time
  const { bavail, bsize } = statfsSync(folder)
  writeFileSync(join(folder, 'others'), Buffer.alloc(Math.max(0, bavail * bsize - 80 * MIB)))
  const second = await open()
  t.equal((await second.api.post(CONFIGMAPS, configMap('small'))).code, 507)
  t.equal((await second.api.get(`${CONFIGMAPS}/big-1`)).code, 200)
  t.equal((await second.api.delete(`${CONFIGMAPS}/big-1`)).code, 200)
  t.equal(await second.orrery.end(), 0)
})

t.test('a first start where there is no room says so in a line, and what to do', { skip }, async t => {
  const small = temporaryDir(t)
  mount(small, 20)
  t.teardown(() => void execFileSync('umount', [small]))
  const server = new Command(t, ['start', '--data-dir', join(small, 'data'), '--secure-port', '0'])
  await server.said('orrery ready')
  // what makes the ServiceAccounts of a namespace is refused
  await server.said('what grows is refused, and tried again until there is room')
  t.equal(await server.end(), 0)
  const told = server.lines.filter(line => /"level":[4-6]0/.test(line))
  t.match(told[0], /"freeBytes":\d+,.*the disk is short: .* Make room on the disk of the data dir/)
  const others = told.slice(1)
  t.strictSame(
    others.filter(line => !line.includes('its disk is nearly full') || line.includes('"stack"')),
    [],
  )
  // by who was refused: a ServiceAccount has a key with a namespace, a binding one with a name
  t.ok(others.length <= 3, `a line for each who was refused, not for each namespace:\n${others.join('\n')}`)
})
