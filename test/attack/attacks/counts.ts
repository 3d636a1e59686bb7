/** Very many small things of which each costs a little whenever something else is written. */
import { type Attack, attack } from '../attack.ts'
import { crowd, type Ground } from '../ground.ts'

const ADMISSION = 'apis/admissionregistration.k8s.io/v1'
const CORE = 'api/v1/namespaces/default'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const MAPS = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }
const SPEC = { containers: [{ name: 'c', image: 'i' }] }

const map = (bytes: number): object => ({ metadata: { generateName: 'c-' }, data: { a: 'x'.repeat(bytes) } })

/** A length-delimited field of a Protobuf message. */
function field(number: number, ...parts: (string | Buffer)[]): Buffer {
  const content = Buffer.concat(parts.map(part => Buffer.from(part)))
  const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)])
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(content.length)]), content])
}

function enveloped(apiVersion: string, kind: string, ...raw: Buffer[]): Buffer {
  return Buffer.concat([Buffer.from('k8s\0'), field(1, field(1, apiVersion), field(2, kind)), field(2, ...raw)])
}

async function policies({ alice, space, size }: Ground): Promise<void> {
  const values = Array.from({ length: 100 }, (_, i) => `v${i}`)
  const objectSelector = { matchExpressions: [{ key: 'a', operator: 'NotIn', values }] }
  const matchConstraints = { resourceRules: [MAPS], objectSelector }
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  await crowd(size(1000, 5), 16, async i => {
    const spec = { failurePolicy: 'Ignore', matchConstraints, paramKind, validations: [{ expression: 'true' }] }
    const name = `greedy-${i}`
    await alice.must({
      path: `${space.prefix}/${ADMISSION}/validatingadmissionpolicies`,
      body: { metadata: { name }, spec },
    })
    const binding = {
      policyName: name,
      validationActions: ['Audit'],
      paramRef: { selector: { matchLabels: { a: 'b' } }, parameterNotFoundAction: 'Allow' },
    }
    const path = `${space.prefix}/${ADMISSION}/validatingadmissionpolicybindings`
    await alice.must({ path, body: { metadata: { name }, spec: binding } })
  })
  await crowd(size(200, 2), 16, () => alice.must({ path: space.maps, body: map(200_000) }))
}

export const counts: readonly Attack[] = [
  attack('many-policies', {
    does: '1,000 policies with selectors and parameters to be looked for, met by a large object while one of them changes',
    prepare: policies,
    run: async ({ alice, space, size }) => {
      await alice.must({
        method: 'PATCH',
        path: `${space.prefix}/${ADMISSION}/validatingadmissionpolicies/greedy-1`,
        type: 'application/merge-patch+json',
        body: { metadata: { labels: { a: `v${Math.trunc(Math.random() * 1e6)}` } } },
      })
      await crowd(size(2, 1), 2, () => alice.send({ path: `${space.maps}?dryRun=All`, body: map(500_000) }))
    },
    keepsMb: 250,
  }),
  attack('many-settings', {
    does: '5,000 policies and 1,000 quotas, one of each changed while 100 ConfigMaps are made',
    prepare: async ({ alice, space, size }) => {
      const policies = `${space.prefix}/${ADMISSION}/validatingadmissionpolicies`
      const validations = [{ expression: 'true' }]
      const spec = { failurePolicy: 'Ignore', matchConstraints: { resourceRules: [MAPS] }, validations }
      await crowd(size(5000, 10), 32, i =>
        alice.must({ path: policies, body: { metadata: { name: `policy-${i}` }, spec } }),
      )
      const binding = { policyName: 'policy-1', validationActions: ['Audit'] }
      await alice.must({
        path: `${space.prefix}/${ADMISSION}/validatingadmissionpolicybindings`,
        body: { metadata: { name: 'one' }, spec: binding },
      })
      const hard = { 'count/configmaps': '1000000' }
      const quotas = `${space.prefix}/${CORE}/resourcequotas`
      await crowd(size(1000, 10), 32, i =>
        alice.must({ path: quotas, body: { metadata: { name: `quota-${i}` }, spec: { hard } } }),
      )
      if (size(1, 0) === 0) return
      await alice.send({ path: policies, body: { metadata: { name: 'more' }, spec } })
      await alice.send({ path: quotas, body: { metadata: { name: 'more' }, spec: { hard } } })
    },
    run: async ({ alice, space, size }) => {
      const type = 'application/merge-patch+json'
      const body = { metadata: { labels: { a: `v${Math.trunc(Math.random() * 1e6)}` } } }
      for (const one of [`${ADMISSION}/validatingadmissionpolicies/policy-1`, `${CORE}/resourcequotas/quota-1`])
        await alice.must({ method: 'PATCH', path: `${space.prefix}/${one}`, type, body })
      await crowd(size(20, 2), 4, () => alice.send({ path: space.maps, body: map(100) }))
    },
    keepsMb: 150,
  }),
  attack('unread-bundles', {
    does: '5 webhook configurations with 3 MB of caBundle that concern nothing, one of which changes',
    prepare: async ({ alice, space, size }) => {
      const path = `${space.prefix}/${ADMISSION}/validatingwebhookconfigurations`
      const clientConfig = { url: 'https://localhost:9/', caBundle: 'QUFB'.repeat(size(700_000, 50_000)) }
      const webhook = {
        name: 'w.example.com',
        clientConfig,
        rules: [{ ...MAPS, resources: ['none'] }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      }
      await crowd(5, 2, i => alice.must({ path, body: { metadata: { name: `long-${i}` }, webhooks: [webhook] } }))
      await alice.send({ path, body: { metadata: { name: 'more' }, webhooks: [webhook] } })
    },
    run: async ({ alice, space, size }) => {
      await alice.must({
        method: 'PATCH',
        path: `${space.prefix}/${ADMISSION}/validatingwebhookconfigurations/long-1`,
        type: 'application/merge-patch+json',
        body: { metadata: { labels: { a: `v${Math.trunc(Math.random() * 1e6)}` } } },
      })
      await crowd(size(8, 1), 4, () => alice.must({ path: `${space.maps}?dryRun=All`, body: map(100) }))
    },
    keepsMb: 60,
  }),
  attack('many-mutations', {
    does: 'policies of 60 mutations each, by patches and by configurations, of an object of 39,000 fields and of one of 900 KB',
    prepare: async ({ alice, space, size }) => {
      const numbers = Array.from({ length: size(60, 5) }, (_, i) => i)
      const patches = numbers.map(i => ({
        patchType: 'JSONPatch',
        jsonPatch: { expression: `[JSONPatch{op: "add", path: "/metadata/labels/a${i}", value: "b"}]` },
      }))
      const applied = numbers.map(i => ({
        patchType: 'ApplyConfiguration',
        applyConfiguration: { expression: `Object{metadata: Object.metadata{labels: {"c${i}": "d"}}}` },
      }))
      for (const [name, mutations] of Object.entries({ patches, applied })) {
        const objectSelector = { matchLabels: { by: name } }
        const matchConstraints = { resourceRules: [MAPS], objectSelector }
        const spec = { failurePolicy: 'Fail', reinvocationPolicy: 'Never', matchConstraints, mutations }
        const path = `${space.prefix}/${ADMISSION}/mutatingadmissionpolicies`
        await alice.must({ path, body: { metadata: { name }, spec } })
        await alice.must({
          path: `${space.prefix}/${ADMISSION}/mutatingadmissionpolicybindings`,
          body: { metadata: { name }, spec: { policyName: name } },
        })
      }
    },
    run: async ({ alice, space, size }) => {
      const data = Object.fromEntries(Array.from({ length: size(39_000, 300) }, (_, i) => [`k${i}`, 'v']))
      await crowd(4, 2, i => {
        const metadata = { generateName: 'c-', labels: { by: i % 2 === 0 ? 'patches' : 'applied' } }
        return alice.must({
          path: `${space.maps}?dryRun=All`,
          body: { metadata, data: i < 2 ? data : { a: 'x'.repeat(900_000) } },
        })
      })
    },
    keepsMb: 60,
  }),
  attack('many-webhooks', {
    does: '3,000 webhooks of each sort that may not be called, met by an object of 900 KB and by one of 39,000 fields',
    prepare: async ({ alice, space, size }) => {
      await crowd(size(12, 2), 2, async i => {
        const sort = i % 2 === 0 ? 'validating' : 'mutating'
        const path = `${space.prefix}/${ADMISSION}/${sort}webhookconfigurations`
        const webhooks = Array.from({ length: size(500, 20) }, (_, k) => ({
          name: `w${k}.example.com`,
          clientConfig: { url: 'https://169.254.169.254/' },
          rules: [MAPS],
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: 'Ignore',
        }))
        await alice.must({ path, body: { metadata: { name: `greedy-${i}` }, webhooks } })
      })
    },
    run: async ({ alice, space, size }) => {
      const data = Object.fromEntries(Array.from({ length: size(39_000, 300) }, (_, i) => [`k${i}`, 'v']))
      const bodies = [map(900_000), { metadata: { generateName: 'c-' }, data }]
      await crowd(size(4, 2), 4, i => alice.send({ path: `${space.maps}?dryRun=All`, body: bodies[i % 2]! }))
    },
    keepsMb: 90,
  }),
  attack('quota-scopes', {
    does: '100 ResourceQuotas of as many scopes over 3,000 Pods, and one more',
    prepare: async ({ alice, space, size }) => {
      const path = `${space.prefix}/${CORE}/pods`
      await crowd(size(3000, 10), 16, () =>
        alice.must({ path, body: { metadata: { generateName: 'q-' }, spec: SPEC } }),
      )
    },
    run: async ({ alice, space, size }) => {
      const tag = Math.random().toString(36).slice(2)
      await crowd(size(100, 4), 8, async i => {
        const matchExpressions = [{ scopeName: 'PriorityClass', operator: 'NotIn', values: [`${tag}-${i}`] }]
        const spec = { hard: { pods: '1000000' }, scopeSelector: { matchExpressions } }
        await alice.must({
          path: `${space.prefix}/${CORE}/resourcequotas`,
          body: { metadata: { name: `${tag}-${i}` }, spec },
        })
      })
      const body = { metadata: { generateName: 'q-' }, spec: SPEC }
      await alice.must({ path: `${space.prefix}/${CORE}/pods?dryRun=All`, body })
      await alice.must({ method: 'DELETE', path: `${space.prefix}/${CORE}/resourcequotas` })
    },
    keepsMb: 100,
  }),
  attack('limit-ranges', {
    does: '48 LimitRanges of 50 defaults that no other has, and Pods',
    prepare: async ({ alice, space, size }) => {
      await crowd(size(48, 5), 16, async i => {
        const names = Array.from({ length: 50 }, (_, k) => [`example.com/r${i}-${k}`, '1'])
        const spec = { limits: [{ type: 'Container', default: Object.fromEntries(names) }] }
        const path = `${space.prefix}/${CORE}/limitranges`
        await alice.must({ path, body: { metadata: { name: `greedy-${i}` }, spec } })
      })
    },
    run: async ({ alice, space, size }) =>
      await crowd(size(8, 1), 4, () =>
        alice.must({ path: `${space.prefix}/${CORE}/pods?dryRun=All`, body: { metadata: { name: 'p' }, spec: SPEC } }),
      ),
    keepsMb: 60,
  }),
  attack('quota-names', {
    does: '80 ResourceQuotas of as many names as there may be that nobody serves, and one of 38,000',
    prepare: async ({ alice, space, size }) => {
      const hard = (quota: number, count: number): object =>
        Object.fromEntries(Array.from({ length: count }, (_, i) => [`count/things${quota}-${i}.example.com`, '5']))
      const path = `${space.prefix}/${CORE}/resourcequotas`
      await crowd(size(80, 3), 8, i =>
        alice.must({ path, body: { metadata: { name: `names-${i}` }, spec: { hard: hard(i, size(1000, 100)) } } }),
      )
      await alice.send({ path, body: { metadata: { name: 'more' }, spec: { hard: hard(0, size(38_000, 4000)) } } })
    },
    run: async ({ alice, space, size }) =>
      await crowd(size(16, 2), 4, () => alice.must({ path: space.maps, body: map(100) })),
    keepsMb: 100,
  }),
  attack('pod-amounts', {
    does: 'Pods of 450 containers and as many sidecars with 50 resources each that no other has',
    run: async ({ alice, space, size }) => {
      const containers = (field: string): object[] =>
        Array.from({ length: size(450, 10) }, (_, i) => ({
          name: `${field}-${i}`,
          image: 'i',
          ...(field === 'side' && { restartPolicy: 'Always' }),
          resources: {
            limits: Object.fromEntries(
              Array.from({ length: 50 }, (_, k) => [`example.com/${field}-${i}-${k}`, 1] as const),
            ),
          },
        }))
      const spec = { containers: containers('main'), initContainers: containers('side'), resources: {} }
      await crowd(size(8, 1), 2, () =>
        alice.send({ path: `${space.prefix}/${CORE}/pods?dryRun=All`, body: { metadata: { name: 'p' }, spec } }),
      )
    },
    keepsMb: 60,
  }),
  attack('disruption-budgets', {
    does: '1,000 PodDisruptionBudgets with selectors of 800 values, and evictions',
    prepare: async ({ alice, space, size }) => {
      const values = Array.from({ length: 40 }, (_, i) => `v${i}`)
      const matchExpressions = Array.from({ length: 20 }, (_, i) => ({ key: `k${i}`, operator: 'In', values }))
      const path = `${space.prefix}/apis/policy/v1/namespaces/default/poddisruptionbudgets`
      const spec = { minAvailable: 1, selector: { matchExpressions } }
      await crowd(size(1000, 5), 16, i => alice.must({ path, body: { metadata: { name: `b${i}` }, spec } }))
    },
    run: async ({ alice, space, size }) => {
      const pods = `${space.prefix}/${CORE}/pods`
      await crowd(size(4, 1), 2, async () => {
        const name = Math.random().toString(36).slice(2)
        await alice.must({ path: pods, body: { metadata: { name }, spec: SPEC } })
        const type = 'application/merge-patch+json'
        const running = { status: { phase: 'Running' } }
        await alice.must({ method: 'PATCH', path: `${pods}/${name}/status`, type, body: running })
        await alice.must({ path: `${pods}/${name}/eviction`, body: { metadata: { name } } })
      })
    },
    keepsMb: 40,
  }),
  attack('protobuf-fields', {
    does: 'Protobuf of 1,400,000 fields that nobody knows, beside the message, within it, in JSON and in an object inside',
    run: async ({ alice, space, size }) => {
      const unknown = Buffer.alloc(size(2_800_000, 300_000), Buffer.from([0x78, 0]))
      const list = `[${'{},'.repeat(size(900_000, 110_000))}{}]`
      const plain = enveloped('v1', 'ConfigMap', field(1, field(1, 'a')))
      const revisions = `${space.prefix}/apis/apps/v1/namespaces/default/controllerrevisions`
      const revision = (data: Buffer): Buffer =>
        enveloped('apps/v1', 'ControllerRevision', field(1, field(1, 'a')), field(2, field(1, data)))
      const asked: readonly [path: string, body: Buffer][] = [
        [space.maps, Buffer.concat([plain, unknown])],
        [space.maps, enveloped('v1', 'ConfigMap', field(1, field(1, 'a')), unknown)],
        [space.maps, enveloped('v1', 'ConfigMap', field(1, field(1, 'a'), field(17, field(7, field(1, list)))))],
        [revisions, revision(Buffer.concat([plain, unknown]))],
        [revisions, revision(Buffer.from(list))],
      ]
      await crowd(size(40, 5), 8, i => {
        const [path, body] = asked[i % asked.length]!
        return alice.send({ path: `${path}?dryRun=All`, body, type: PROTOBUF })
      })
    },
    hears: [413],
  }),
  attack('long-names', {
    does: 'Pods with an iSCSI name that begins anew everywhere, and with thousands of long quantities',
    run: async ({ alice, space, size }) => {
      const iqn = 'iqn.2001-04.'.repeat(size(200_000, 20_000))
      const volumes = [{ name: 'v', iscsi: { targetPortal: '10.0.0.1', lun: 0, iqn } }]
      const digits = Array.from({ length: size(3500, 500) }, (_, i) => [`example.com/r${i}`, `${'1'.repeat(255)}x`])
      const containers = [{ name: 'c', image: 'i', resources: { limits: Object.fromEntries(digits) } }]
      const path = `${space.prefix}/${CORE}/pods?dryRun=All`
      await crowd(size(16, 2), 4, i => {
        const spec = i % 2 === 0 ? { ...SPEC, volumes } : { containers }
        return alice.send({ path, body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'n' }, spec } })
      })
    },
    hears: [400, 422],
  }),
]
