/** On a real disk that is nearly full: growth is refused, deletions go on, and the next start finds room. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Api } from '../support/api.ts'
import { startOrrery } from '../support/orrery.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { accessOf, CONFIGMAPS, configMap, temporaryDir } from '../support/server.ts'

const MIB = 1024 * 1024

/** A disk of memory at a folder; whether this machine lets us have one. */
function mount(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m', 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const folder = temporaryDir(t)
const skip = mount(folder) ? false : 'who runs this may not mount a disk'
if (skip === false) t.teardown(() => void execFileSync('umount', [folder]))

t.test('a full disk stops growth, and nothing else', { skip, timeout: FILE_LIMIT_MS }, async t => {
  const dataDir = join(folder, 'data')
  const open = async () => {
    const orrery = await startOrrery(t, dataDir)
    const api = new Api(accessOf(orrery.kubeconfig))
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
  t.equal(await first.orrery.stop(), 0)
  first.api.close()

  // somebody else takes some of it; what is left is more than is stored, which LevelDB may write anew at any time
  const { bavail, bsize } = statfsSync(folder)
  writeFileSync(join(folder, 'others'), Buffer.alloc(Math.max(0, bavail * bsize - 80 * MIB)))
  const second = await open()
  t.equal((await second.api.post(CONFIGMAPS, configMap('small'))).code, 507)
  t.equal((await second.api.get(`${CONFIGMAPS}/big-1`)).code, 200)
  t.equal((await second.api.delete(`${CONFIGMAPS}/big-1`)).code, 200)
  t.equal(await second.orrery.stop(), 0)
})
