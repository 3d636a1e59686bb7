/** A syncer with mistaken options or files gives one clear line of its own process, and touches nothing. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { kubectlKubestellar } from '../../src/cli/kubestellar/program.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { CREDENTIAL_TYPE, EXPIRES_ANNOTATION } from '../../src/placement/spaces/syncerCredential.ts'
import { temporaryDir } from '../support/server.ts'
import { Center, clientOf, register, warnings } from '../syncer/support/installation.ts'
import { MAPS } from '../syncer/support/kinds.ts'
import { Command } from '../syncer/support/processes.ts'

/** As if nobody had used the renewal credentials of a mailbox for so long. */
async function unusedUntil(mailbox: SpaceClient, when: string): Promise<void> {
  const secrets = { group: '', version: 'v1', resource: 'secrets' }
  const { items } = await mailbox.list(secrets, { namespace: 'default' })
  const { metadata } = items.find(({ type }) => type === CREDENTIAL_TYPE)!
  const body = { metadata: { annotations: { [EXPIRES_ANNOTATION]: when } } }
  await mailbox.patch(secrets, { namespace: 'default', name: metadata.name ?? '' }, 'merge', body)
}

t.test('an expired credential, and the administrator of another center instead of a cluster', async t => {
  const dir = temporaryDir(t)
  const center = new Center(t, join(dir, 'center'))
  const wec = new Command(t, ['simulate-wec', '--name', 'w', '--data-dir', join(dir, 'wec'), '--secure-port', '0'])
  const second = new Center(t, join(dir, 'second'))
  await Promise.all([center.start(), wec.said('ready'), second.start()])
  const toCluster = join(dir, 'wec', 'admin.kubeconfig')
  const fromCenter = join(dir, 'syncer.kubeconfig')
  const mailbox = await register(center)
  await center.syncerKubeconfig(fromCenter, mailbox)
  const expired = join(dir, 'expired.kubeconfig')
  writeFileSync(expired, readFileSync(fromCenter, 'utf8').replace(/token: .*/, 'token: of-yesterday'))
  const refused = new Command(t, ['syncer', 'adopt', '--from-kubeconfig', expired, '--to-kubeconfig', toCluster])
  await refused.said(`the center refuses the credential of ${expired}: it is wrong, expired or revoked; nothing was`)
  t.equal(await refused.exited(), 1)
  const waiting = new Command(t, ['syncer', '--from-kubeconfig', expired, '--to-kubeconfig', toCluster])
  await waiting.said("the center refuses the syncer's credential: its token is wrong, expired or revoked")
  t.equal(await waiting.end(), 0)
  t.equal(warnings(waiting).length, 1, 'one line')
  const unused = join(dir, 'unused.kubeconfig')
  const prep = `prep-for-syncer florin --imw root:imw1 --kubeconfig-output ${unused} --kubeconfig`
  const silent = { out: () => {}, err: () => {} }
  t.equal(await kubectlKubestellar([...prep.split(' '), join(center.dir, 'admin.kubeconfig')], silent), 0)
  await unusedUntil(center.in(mailbox), '2026-01-01T00:00:00Z')
  const late = new Command(t, ['syncer', '--from-kubeconfig', unused, '--to-kubeconfig', toCluster])
  await late.said(
    "the center refuses the syncer's credential: the renewal credential went unused until it expired, at " +
      '2026-01-01T00:00:00Z; make another one with \\"kubectl kubestellar syncer rotate\\"',
  )
  t.equal(await late.end(), 0)
  t.equal(warnings(late).length, 1, 'one line')
  const cluster = await clientOf(t, toCluster)
  await t.rejects(cluster.get(MAPS, { namespace: 'kube-system', name: 'orrery-syncer' }), /not found/)
  for (const args of [['syncer'], ['syncer', 'adopt']]) {
    const other = join(dir, 'second', 'admin.kubeconfig')
    const mistaken = new Command(t, [...args, '--from-kubeconfig', fromCenter, '--to-kubeconfig', other])
    await mistaken.said('leads to the space root of an Orrery server, which is no cluster; nothing was touched')
    t.equal(await mistaken.exited(), 1)
  }
  await second.end()
})
