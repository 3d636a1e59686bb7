/** A stored object cannot keep the server from starting: work that ended it is set aside, the rest goes on. */
import { join } from 'node:path'
import t from 'tap'
import { isRecord } from '../../src/apimachinery/object.ts'
import { CenterProcess } from '../support/centerProcess.ts'
import { MAPS, PLACEMENTS } from '../support/scene.ts'

const map = (name: string, version: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'app' },
  data: { version },
})

t.test('an object of which the server dies when it is placed does not end every later start', async t => {
  const center = new CenterProcess(t, join(import.meta.dirname, '../support/doomedServer.ts'))
  await center.start()
  const scene = await center.scene('doom', ['florin'])
  const mailbox = await scene.mailbox('florin')
  const spec = {
    locationSelectors: [{ matchLabels: { scene: 'doom' } }],
    downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['app'], objectNames: ['good', 'poison'] }],
  }
  const placement = {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'EdgePlacement',
    metadata: { name: 'ep' },
    spec,
  }
  await scene.wds.create(PLACEMENTS, placement)
  const carried = async (version: string): Promise<void> => {
    await center.world.present(mailbox, 'configmaps app/good', ({ data }) => isRecord(data) && data.version === version)
  }
  await scene.wds.create(MAPS, map('good', '1'))
  await carried('1')
  await Promise.allSettled([scene.wds.create(MAPS, map('poison', '1'))])
  await center.ended()
  await center.disconnect()

  const before = center.lines.length
  await Promise.allSettled([center.start()])
  await center.ended()
  await center.disconnect()
  t.match(center.lines.slice(before), [/copy [^"]*\|configmaps\|app\|poison".*did not end in order/])

  await center.start()
  const told = center.lines.slice(before).find(line => line.includes('worked on this key alone'))
  t.match(told, /"controller":"placement-translator".*poison.*"deaths":1/)
  const wds = center.client.in(scene.wdsId)
  await wds.patch(MAPS, { namespace: 'app', name: 'good' }, 'merge', { data: { version: '2' } })
  await carried('2')
  t.equal(center.world.get(mailbox, 'configmaps app/poison'), undefined)
  const saysSo = (status: unknown): boolean => JSON.stringify(status).includes('"SetAside"')
  const { status } = await center.world.present(scene.wdsId, 'edgeplacements.edge.kubestellar.io ep', o =>
    saysSo(o.status),
  )
  t.match(JSON.stringify(status), /configmaps \\"app\/poison\\".*the server ended while it placed this/)
  await wds.delete(MAPS, { namespace: 'app', name: 'poison' })
  await center.world.present(scene.wdsId, 'edgeplacements.edge.kubestellar.io ep', o => !saysSo(o.status))
  await wds.patch(MAPS, { namespace: 'app', name: 'good' }, 'merge', { data: { version: '3' } })
  await carried('3')
})
