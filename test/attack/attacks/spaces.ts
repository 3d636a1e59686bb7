/** More spaces, objects and Events than one ought to have. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Attack, attack } from '../attack.ts'
import { crowd } from '../ground.ts'

const WORKSPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
const workspace = (name: string): object => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
})

export const spaces: readonly Attack[] = [
  attack('many-spaces', {
    does: 'spaces made and deleted as fast as it goes',
    run: async ({ alice, space, size }) => {
      const tag = Math.random().toString(36).slice(2, 8)
      const path = space.prefix + WORKSPACES
      await crowd(size(300, 5), 16, i => alice.send({ path, body: workspace(`s-${tag}-${i}`) }))
      await crowd(size(300, 5), 16, i => alice.send({ method: 'DELETE', path: `${path}/s-${tag}-${i}` }))
    },
    keepsMb: 80,
  }),
  attack('many-objects', {
    does: 'objects without end: 40,000, 10 KB each',
    run: async ({ alice, space, size }) => {
      const data = { a: 'x'.repeat(10_000) }
      await crowd(size(40_000, 50), 64, () =>
        alice.send({
          path: space.maps,
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'o-' }, data },
        }),
      )
    },
    keepsMb: 900,
  }),
  attack('many-events', {
    does: 'Events as fast as they go',
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/api/v1/namespaces/default/events`
      const involvedObject = { kind: 'ConfigMap', namespace: 'default', name: 'x', apiVersion: 'v1' }
      await crowd(size(4000, 10), 64, () =>
        alice.send({
          path,
          body: {
            apiVersion: 'v1',
            kind: 'Event',
            metadata: { generateName: 'e-' },
            involvedObject,
            reason: 'R',
            message: 'm',
          },
        }),
      )
    },
    keepsMb: 120,
  }),
  attack('namespace-finalizers', {
    does: 'a namespace of 10,000 objects with 20 finalizers each that nobody else has, deleted again and again',
    prepare: async ({ alice, space, size }) => {
      await alice.must({ path: `${space.prefix}/api/v1/namespaces`, body: { metadata: { name: 'held' } } })
      await crowd(size(10_000, 30), 32, i => {
        const finalizers = Array.from({ length: 20 }, (_, k) => `example.com/x${i}-${k}`)
        const path = `${space.prefix}/api/v1/namespaces/held/configmaps`
        return alice.must({ path, body: { metadata: { name: `held-${i}`, finalizers } } })
      })
    },
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/api/v1/namespaces/held`
      await alice.send({ method: 'DELETE', path })
      const type = 'application/merge-patch+json'
      // each change of the namespace has it looked at again
      await crowd(size(40, 2), 1, async i => {
        const body = { metadata: { labels: { a: `v${i}` } } }
        await alice.send({ method: 'PATCH', path, type, body })
        await pause(size(100, 1))
      })
    },
    keepsMb: 100,
  }),
  attack('namespaces', {
    does: 'namespaces with objects, deleted at once',
    run: async ({ alice, space, size }) => {
      const tag = Math.random().toString(36).slice(2, 8)
      const path = `${space.prefix}/api/v1/namespaces`
      await crowd(size(60, 3), 8, async i => {
        const name = `n-${tag}-${i}`
        await alice.send({ path, body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } })
        await crowd(size(30, 3), 4, n =>
          alice.send({
            path: `${path}/${name}/configmaps`,
            body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c-${n}` } },
          }),
        )
        await alice.send({ method: 'DELETE', path: `${path}/${name}` })
      })
    },
    keepsMb: 100,
  }),
]
