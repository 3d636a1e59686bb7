/** What a syncer is given by mistake is one clear line of its own process, and nothing is touched. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { temporaryDir } from '../support/server.ts'
import { CenterProcess, register, warnings } from '../syncer/support/installation.ts'
import { freePort, Program } from '../syncer/support/processes.ts'

t.test('an expired credential, and the administrator of another center instead of a cluster', async t => {
  const dir = temporaryDir(t)
  const center = new CenterProcess(t, join(dir, 'center'), await freePort())
  const wec = Program.orrery(t, ['simulate-wec', '--name', 'w', '--data-dir', join(dir, 'wec'), '--secure-port', '0'])
  const second = new CenterProcess(t, join(dir, 'second'), await freePort())
  await Promise.all([center.start(), wec.said('ready'), second.start()])
  const toCluster = join(dir, 'wec', 'admin.kubeconfig')
  const fromCenter = join(dir, 'syncer.kubeconfig')
  await center.syncerKubeconfig(fromCenter, await register(center))
  const expired = join(dir, 'expired.kubeconfig')
  writeFileSync(expired, readFileSync(fromCenter, 'utf8').replace(/token: .*/, 'token: of-yesterday'))
  const refused = Program.orrery(t, ['syncer', 'adopt', '--from-kubeconfig', expired, '--to-kubeconfig', toCluster])
  await refused.said(`the center refuses the credential of ${expired}: it is wrong, expired or revoked; nothing was`)
  t.equal(await refused.exited(), 1)
  const waiting = Program.orrery(t, ['syncer', '--from-kubeconfig', expired, '--to-kubeconfig', toCluster])
  await waiting.said("the center refuses the syncer's credential: its token is wrong, expired or revoked")
  t.equal(await waiting.end('SIGTERM'), 0)
  t.equal(warnings(waiting).length, 1, 'one line')
  for (const args of [['syncer'], ['syncer', 'adopt']]) {
    const other = join(dir, 'second', 'admin.kubeconfig')
    const mistaken = Program.orrery(t, [...args, '--from-kubeconfig', fromCenter, '--to-kubeconfig', other])
    await mistaken.said('leads to the space root of an Orrery server, which is no cluster; nothing was touched')
    t.equal(await mistaken.exited(), 1)
  }
  await second.kill()
})
