/** Answers that are large, in each form that a client can ask for. */
import { type Attack, attack } from '../attack.ts'
import { crowd, type Ground } from '../ground.ts'

const META = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'

/** 30 MB in few objects. */
async function large({ alice, space, size }: Ground): Promise<void> {
  const data = Object.fromEntries(Array.from({ length: 1800 }, (_, i) => [`key-${i}`, `value ${i} `.repeat(40)]))
  await crowd(size(40, 2), 4, i =>
    alice.must({ path: space.maps, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `l-${i}` }, data } }),
  )
}

/** Many small objects. */
async function many({ alice, space, size }: Ground): Promise<void> {
  await crowd(size(20_000, 10), 48, i =>
    alice.must({
      path: space.maps,
      body: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `m-${i}`, labels: { a: `v${i % 7}`, b: `w${i}`, c: 'x' } },
        data: { a: 'b' },
      },
    }),
  )
}

interface Reading {
  name: string
  does: string
  store: (ground: Ground) => Promise<void>
  query?: string
  headers?: Record<string, string>
  count?: number
}

function reading({ name, does, store, query = '', headers = {}, count = 16 }: Reading): Attack {
  return attack(name, {
    does,
    prepare: store,
    run: async ({ alice, space, size }) =>
      await crowd(size(count, 2), size(count, 2), () => alice.send({ path: space.maps + query, headers })),
    // the store's caches
    keepsMb: 60,
  })
}

export const reads: readonly Attack[] = [
  reading({
    name: 'list-yaml',
    does: '40 at a time: 30 MB as YAML',
    store: large,
    headers: { Accept: 'application/yaml' },
    count: 40,
  }),
  reading({ name: 'list-pretty', does: '16 at a time: 30 MB indented', store: large, query: '?pretty=true' }),
  reading({
    name: 'list-gzip',
    does: '16 at a time: 30 MB compressed',
    store: large,
    headers: { 'Accept-Encoding': 'gzip' },
  }),
  reading({
    name: 'list-protobuf',
    does: '16 at a time: 30 MB as Protobuf',
    store: large,
    headers: { Accept: 'application/vnd.kubernetes.protobuf' },
  }),
  reading({ name: 'list-many', does: '16 at a time: 20,000 objects', store: many }),
  reading({
    name: 'list-many-yaml',
    does: '16 at a time: 20,000 objects as YAML',
    store: many,
    headers: { Accept: 'application/yaml' },
  }),
  reading({
    name: 'list-table',
    does: '16 at a time: 20,000 objects as a Table with them in it',
    store: many,
    query: '?includeObject=Object',
    headers: { Accept: TABLE },
  }),
  reading({
    name: 'list-metadata',
    does: '16 at a time: metadata of 20,000 objects',
    store: many,
    headers: { Accept: META },
  }),
  reading({
    name: 'list-selector',
    does: '16 at a time: selectors over 20,000 objects',
    store: many,
    query: `?labelSelector=a+in+(v1,v2),b+notin+(${Array.from({ length: 500 }, (_, i) => `w${i}`).join(',')}),c%3Dx,d!%3Dy`,
  }),
  reading({
    name: 'list-field-selector',
    does: '16 at a time: a field selector over 20,000 objects',
    store: many,
    query: '?fieldSelector=metadata.name%3Dnobody',
  }),
  attack('list-and-leave', {
    does: '30 MB as YAML and indented, asked for 200 times by clients that leave at once',
    prepare: large,
    run: async ({ alice, space, size }) =>
      await crowd(size(4, 1), 1, async () => {
        await crowd(size(50, 4), size(50, 4), async i =>
          alice.unread(
            i % 2 === 0
              ? { path: space.maps, headers: { Accept: 'application/yaml' } }
              : { path: `${space.maps}?pretty=true` },
          ),
        )
        alice.leave()
      }),
    keepsMb: 60,
  }),
  attack('watch-initial', {
    does: '40 watches at a time that begin with 20,000 objects',
    prepare: many,
    run: async ({ alice, space, size }) =>
      await crowd(size(40, 2), 40, () => alice.send({ path: `${space.maps}?watch=1&timeoutSeconds=1` })),
    keepsMb: 60,
  }),
]
