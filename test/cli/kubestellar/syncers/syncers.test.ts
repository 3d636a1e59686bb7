/** `syncer …`: what is wrong is one line that says the remedy, and what is missing hides nothing else. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { WORKSPACES } from '../../../../src/apimachinery/resources.ts'
import { kubectlKubestellar } from '../../../../src/cli/kubestellar/program.ts'
import { FIRST_OBJECTS } from '../../../../src/cli/orrery/server/placementOptions.ts'
import { waitFor } from '../../../../src/cli/shell/waitFor.ts'
import { httpClient } from '../../../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../../../src/client/kubeconfig.ts'
import { mailboxName, SYNC_TARGETS } from '../../../../src/placement/words/placement.ts'
import { PATIENCE_MS } from '../../../support/patience.ts'
import { startTestServer, temporaryDir } from '../../../support/server.ts'

const { server } = await startTestServer(t, { more: { firstObjects: FIRST_OBJECTS } })
const { options, base } = await loadKubeconfig(server.kubeconfigPath)
const client = httpClient({ ...options, server: base })
t.teardown(() => client.close())
const admin = join(temporaryDir(t), 'admin')
copyFileSync(server.kubeconfigPath, admin)

async function ks(line: string) {
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) }
  const code = await kubectlKubestellar([...line.split(' '), '--kubeconfig', admin], terminal)
  return { code, out, err }
}

t.test('a space that is no inventory is told in one line, with the remedy', async t => {
  const commands = ['list', 'rotate florin', 'revoke florin', 'remove florin', `adopt florin --to-kubeconfig ${admin}`]
  for (const command of commands) {
    t.same(
      await ks(`syncer ${command} --imw root:wmw1`),
      {
        code: 1,
        out: [],
        err: [
          'Error: root:wmw1 serves no SyncTargets: it is no inventory; name one with --imw, such as --imw root:imw1',
        ],
      },
      command,
    )
  }
  t.match(await ks('syncer rotate florin --imw root:imw1'), {
    code: 1,
    err: [
      'Error: synctargets.edge.kubestellar.io "florin" not found in root:imw1; there is none: "kubectl kubestellar ensure location" makes one',
    ],
  })
  t.match(await ks('syncer list --imw root:imw1 --espw root:none'), {
    code: 2,
    err: [/^Error: it looks like "root:none" is not the core space/],
  })
})

t.test('a SyncTarget without a mailbox hides no other one', async t => {
  const core = client.in('root:espw')
  for (const name of ['bare', 'florin']) await ks(`ensure location ${name} env=prod --imw root:imw1`)
  const { metadata } = await client.in('root:imw1').get(SYNC_TARGETS, { name: 'florin' })
  const name = mailboxName(metadata.annotations!['kcp.io/cluster']!, metadata.uid!)
  await core.create(WORKSPACES, {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name },
    spec: { type: { name: 'mailbox', path: 'root' } },
  })
  const isReady = (workspace: unknown) => (workspace as { status?: { phase?: string } })?.status?.phase === 'Ready'
  await waitFor({
    client: core,
    resource: WORKSPACES,
    ref: { name },
    done: isReady,
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  t.match(await ks('syncer list --imw root:imw1 -o name'), {
    code: 0,
    out: /^(synctarget\.edge\.kubestellar\.io\/\S+\n?)+$/,
  })
  t.match(await ks('syncer list --imw root:imw1'), {
    code: 0,
    out: [/^SYNCTARGET /, /^bare +Unknown +- +- +no mailbox +- +-$/, /^florin +Unknown +- +- +none +- +-$/],
    err: [],
  })
})
