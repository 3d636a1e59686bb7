/** KubeStellar's extended example runs unchanged. */
import { join } from 'node:path'
import t from 'tap'
import { startHarness } from '../cli/support.ts'
import { Command } from '../support/command.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { noKubectl, playExample1, typedHere } from './support/example1.ts'

t.setTimeout(FILE_LIMIT_MS)
t.test('the extended example of KubeStellar runs unchanged', { skip: noKubectl(), timeout: FILE_LIMIT_MS }, async t => {
  const harness = await startHarness(t)
  const admin = harness.kubeconfig('admin')
  await playExample1(t, {
    dir: harness.dir,
    inventory: admin,
    special: admin,
    startCluster: args => new Command(t, args),
    startSyncer(name, from, to) {
      const state = join(harness.dir, `${name}-state`)
      new Command(t, ['syncer', '--from-kubeconfig', from, '--to-kubeconfig', to, '--state-dir', state])
    },
    type: typedHere,
  })
})
