/** Objects that go into many spaces have one body each, whatever is written of them there. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { cloneJson } from '../../../src/apimachinery/values.ts'
import { deleteObject } from '../../../src/apiserver/operations/remove.ts'
import { copyIn } from '../../../src/storage/copyText.ts'
import { asking, deployment, heart } from './support.ts'

const SPACES = [1, 2, 3, 4, 5].map(n => `000000000000000${n}`)
const timeOf = (second: number): string => `2026-05-05T05:05:0${second}Z`

function reported(object: KubeObject, second: number): KubeObject {
  const times = { lastUpdateTime: timeOf(second), lastTransitionTime: timeOf(second) }
  const conditions = [{ type: 'Available', status: 'True', reason: 'Enough', message: 'é', ...times }]
  return { ...object, status: { observedGeneration: 1, replicas: 1, conditions } }
}

t.test('a Deployment, with statuses of different times, edited, and on its way out', async t => {
  let seconds = 0
  const clock = () => new Date(Date.UTC(2026, 4, 5, 0, 0, ++seconds))
  let uids = 0
  const uuid = () => `00000000-0000-4000-8000-${String(++uids).padStart(12, '0')}`
  const h = await heart(t, { deps: { uuid, annotateSpace: true, clock } })
  const type = h.type('apps/v1/deployments')
  const object = deployment('x')
  object.metadata.finalizers = ['example.com/held']
  const sameBody = async (what: string): Promise<void> => {
    const stored = SPACES.map(space => h.store.get({ ...h.keyOf(type, 'n', 'x'), space }))
    const bodies = (await Promise.all(stored)).map(each => each && copyIn(each)?.body)
    t.ok(bodies[0], what)
    t.ok(
      bodies.every(body => body === bodies[0]),
      what,
    )
  }
  const change = async (act: (object: KubeObject, i: number) => KubeObject, subresource = ''): Promise<void> => {
    for (const [i, space] of SPACES.entries())
      await h.registry.update(asking({ space }), type, 'n', 'x', current => act(current, i), { subresource })
  }
  for (const space of SPACES)
    await h.registry.create(asking({ space }), type, 'n', cloneJson(object), { isShared: true })
  await sameBody('made')
  await change((current, i) => reported(current, i), 'status')
  await sameBody('with a status')
  await change(current => ({ ...current, spec: { ...(current.spec as object), replicas: 3 } }))
  await sameBody('edited')
  for (const space of SPACES)
    await deleteObject(h.registry.deps, asking({ space }), type, { namespace: 'n', name: 'x' }, {})
  await sameBody('on its way out')
})

t.test('a Job, whose spec says its uid', async t => {
  let uids = 0
  const uuid = () => `00000000-0000-4000-8000-${String(++uids).padStart(12, '0')}`
  const h = await heart(t, { deps: { uuid, annotateSpace: true } })
  const type = h.type('batch/v1/jobs')
  const pod = { containers: [{ name: 'main', image: 'example.com/main:1' }], restartPolicy: 'Never' }
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'x' }, spec: { template: { spec: pod } } }
  const bodies: unknown[] = []
  for (const space of SPACES) {
    const { stored } = await h.registry.create(asking({ space }), type, 'n', cloneJson(job), { isShared: true })
    bodies.push(copyIn(stored)?.body)
  }
  t.ok(bodies[0])
  t.equal(new Set(bodies).size, 1)
})
