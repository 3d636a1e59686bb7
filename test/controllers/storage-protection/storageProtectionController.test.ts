/** Claims and volumes that are deleted go once nothing uses them, and not before. */
import t from 'tap'
import { embeddedClient } from '../../../src/apiserver/embedded/embeddedClient.ts'
import type { Client, SpaceClient } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { storageProtectionController } from '../../../src/controllers/storage-protection/storageProtectionController.ts'
import { goes, pod, reaches } from '../../apiserver/conformance/cluster.ts'
import { createSpace, startTestServer } from '../../support/server.ts'
import { realTime } from '../../support/time.ts'

const { api, server, faults } = await startTestServer(t)
const client = embeddedClient({ ...server, component: 'storage-protection-controller' })
let podLists = 0
/** Counts how often Pods are read. */
const counting: Client = {
  in(space) {
    const at = client.in(space)
    const list: SpaceClient['list'] = (resource, options) => {
      if (resource.resource === 'pods') podLists++
      return at.list(resource, options)
    }
    return Object.assign(Object.create(at), { get: at.get.bind(at), update: at.update.bind(at), list }) as SpaceClient
  },
  stream: options => client.stream(options),
}
const controller = storageProtectionController({ ...realTime(), client: counting, logger: silentLogger })
controller.start()
t.teardown(() => controller.stop())

const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims'
const VOLUMES = '/api/v1/persistentvolumes'
const PODS = '/api/v1/namespaces/default/pods'
const claim = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
})
const volume = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
})
const mounting = (name: string, source: object): object => pod(name, { volumes: [{ name: 'data', ...source }] })
const byName = (claimName: string): object => ({ persistentVolumeClaim: { claimName } })

t.test('what nothing uses goes at once, in every space', async t => {
  const space = api.in(await createSpace(api, 'storage'))
  for (const one of [api, space]) {
    await one.ok(one.post(CLAIMS, claim('free')))
    await one.ok(one.post(VOLUMES, volume('free')))
    await one.ok(one.delete(`${CLAIMS}/free`))
    await one.ok(one.delete(`${VOLUMES}/free`))
    await goes(one, `${CLAIMS}/free`)
    await goes(one, `${VOLUMES}/free`)
  }
  t.pass()
})

t.test('a claim stays while a Pod mounts it that has not ended', async t => {
  for (const name of ['used', 'gen-data']) await api.ok(api.post(CLAIMS, claim(name)))
  await api.ok(api.post(PODS, mounting('one', byName('used'))))
  await api.ok(api.post(PODS, mounting('two', byName('used'))))
  const ephemeral = { volumeClaimTemplate: { spec: (claim('any') as { spec: object }).spec } }
  await api.ok(api.post(PODS, mounting('gen', { ephemeral })))
  for (const name of ['used', 'gen-data']) await api.ok(api.delete(`${CLAIMS}/${name}`))
  await controller.queue.idle()
  await api.ok(api.patch(`${PODS}/one/status`, 'merge', { status: { phase: 'Succeeded' } }))
  await controller.queue.idle()
  for (const name of ['used', 'gen-data']) {
    const { metadata } = await api.ok(api.get(`${CLAIMS}/${name}`))
    t.ok(metadata.deletionTimestamp, `${name} is still held`)
  }
  await api.ok(api.delete(`${PODS}/two?gracePeriodSeconds=0`))
  await goes(api, `${CLAIMS}/used`)
  await api.ok(api.delete(`${PODS}/gen?gracePeriodSeconds=0`))
  await goes(api, `${CLAIMS}/gen-data`)
})

t.test('many claims that go together read the Pods of their namespace once', async t => {
  const names = ['m-0', 'm-1', 'm-2', 'm-3', 'm-4', 'm-5']
  for (const name of names) {
    await api.ok(api.post(CLAIMS, claim(name)))
    await api.ok(api.post(PODS, mounting(`pod-${name}`, byName(name))))
  }
  await controller.queue.idle()
  podLists = 0
  for (const name of names) await api.ok(api.delete(`${CLAIMS}/${name}`))
  await controller.queue.idle()
  // a Pod that comes when claims wait already
  await api.ok(api.post(PODS, mounting('late', byName('m-0'))))
  for (const name of names) await api.ok(api.delete(`${PODS}/pod-${name}?gracePeriodSeconds=0`))
  for (const name of names.slice(1)) await goes(api, `${CLAIMS}/${name}`)
  await controller.queue.idle()
  t.equal((await api.get(`${CLAIMS}/m-0`)).code, 200, 'the late one holds its claim')
  await api.ok(api.patch(`${PODS}/late/status`, 'merge', { status: { phase: 'Failed' } }))
  await goes(api, `${CLAIMS}/m-0`)
  t.equal(podLists, 1)
})

t.test('a volume stays while it is bound; finalizers of others stay with it', async t => {
  await api.ok(api.post(VOLUMES, volume('bound')))
  await api.ok(
    api.patch(`${VOLUMES}/bound`, 'merge', {
      metadata: { finalizers: ['example.com/mine', 'kubernetes.io/pv-protection'] },
    }),
  )
  await api.ok(api.patch(`${VOLUMES}/bound/status`, 'merge', { status: { phase: 'Bound' } }))
  await api.ok(api.delete(`${VOLUMES}/bound`))
  await controller.queue.idle()
  t.equal((await api.ok(api.get(`${VOLUMES}/bound`))).metadata.finalizers?.length, 2)
  await api.ok(api.patch(`${VOLUMES}/bound/status`, 'merge', { status: { phase: 'Released' } }))
  await reaches(api, `${VOLUMES}/bound`, ({ metadata }) => metadata.finalizers?.join() === 'example.com/mine')
})

t.test('nothing was logged as an error', async t => t.same(faults, []))
