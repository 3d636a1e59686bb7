/** Custom resources as people meet them: old and new kubectl with a kind of several versions and a webhook between them. */
import t, { type Test } from 'tap'
import { findKubectls, type Kubectl, KubectlSession, minorOf } from '../support/orrery.ts'
import { PATIENCE } from '../support/patience.ts'
import { createSpace, startTestServer, temporaryDir } from '../support/server.ts'

const all = await findKubectls()
const newest = all.findLast(kubectl => minorOf(kubectl) <= 32)
const kubectls = [...new Set([all[0], newest])].filter(kubectl => kubectl !== undefined)

const CRD = (kind = 'Boat') => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.sea.example.com}
spec:
  group: sea.example.com
  scope: Namespaced
  names: {plural: boats, singular: boat, kind: ${kind}, shortNames: [bo], categories: [fleet]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.crew, statusReplicasPath: .status.crew}}
    additionalPrinterColumns:
    - {name: Length, type: integer, jsonPath: .spec.length}
    - {name: Harbour, type: string, jsonPath: .spec.harbour, priority: 1}
    schema: &schema
      openAPIV3Schema:
        type: object
        description: A boat at sea.
        properties:
          spec:
            type: object
            required: [length]
            description: What is wanted of a boat.
            properties:
              length: {type: integer, minimum: 1, description: From bow to stern in metres.}
              harbour: {type: string, default: Bergen}
              crew: {type: integer}
              holds:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, tons: {type: integer}}}
          status: {type: object, properties: {phase: {type: string}, crew: {type: integer}}}
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema: *schema
`
const BOAT = (version: string, spec: string): string => `
apiVersion: sea.example.com/${version}
kind: Boat
metadata: {name: fram}
spec: ${spec}
`

if (kubectls.length === 0) {
  t.test('kubectl', { skip: 'no kubectl found' }, async () => {})
} else {
  const { api, server, faults } = await startTestServer(t)
  for (const kubectl of kubectls) {
    const id = await createSpace(api, `sea-k${minorOf(kubectl)}`)
    const flags = ['--kubeconfig', server.kubeconfigPath, `--server=${server.url}/clusters/${id}`]
    const session = new KubectlSession(kubectl, temporaryDir(t), flags)
    t.test(`kubectl ${kubectl.version}`, t => voyage(t, kubectl, session))
  }
  t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
}

async function voyage(t: Test, kubectl: Kubectl, k: KubectlSession): Promise<void> {
  const modern = minorOf(kubectl) >= 27
  t.match(await k.ok('apply --server-side -f -', { input: CRD() }), 'boats.sea.example.com serverside-applied')
  t.match(
    await k.ok(`wait --for=condition=Established crd/boats.sea.example.com --timeout=${PATIENCE}`),
    'condition met',
  )

  const applied = await k.run('apply --server-side -f -', {
    input: BOAT('v1', '{length: 39, holds: [{name: a, tons: 1}]}'),
  })
  t.match(applied.out, 'boat.sea.example.com/fram serverside-applied')
  t.match(await k.ok('get bo'), /^NAME +LENGTH\nfram +39$/)
  t.match(await k.ok('get fleet -o wide'), /^NAME +LENGTH +HARBOUR\nfram +39 +Bergen$/)
  t.equal(await k.ok("get boats.v1beta1.sea.example.com fram -o jsonpath='{.apiVersion}'"), 'sea.example.com/v1beta1')
  const old = await k.run('get boats.v1beta1.sea.example.com')
  t.match(old.err, 'sea.example.com/v1beta1 Boat is deprecated; use sea.example.com/v1 Boat')

  t.match(
    await k.ok('explain boat.spec'),
    /What is wanted of a boat\.[\s\S]*length[\s\S]*From bow to stern in metres\./,
  )
  t.match(await k.ok('explain boat --recursive'), /holds[\s\S]*tons/)
  t.match(await k.ok('api-resources --api-group=sea.example.com'), /boats +bo +sea\.example\.com(\/v1)? +true +Boat/)

  const second = 'apply --server-side --field-manager=other -f -'
  const conflict = await k.run(second, { input: BOAT('v1', '{length: 40}') })
  t.match(conflict.err, /conflict with "kubectl".*\.spec\.length/s)
  t.match(await k.ok(second, { input: BOAT('v1', '{length: 39, holds: [{name: b, tons: 2}]}') }), 'serverside-applied')
  t.equal(await k.ok("get bo fram -o jsonpath='{.spec.holds[*].name}'"), 'a b', 'lists of type map are merged by key')

  const wrong = await k.run('apply --server-side --force-conflicts -f -', { input: BOAT('v1', '{length: 0}') })
  t.match(
    wrong.err,
    'The Boat "fram" is invalid: spec.length: Invalid value: 0: spec.length in body should be greater than or equal to 1',
  )
  const unknown = await k.run('create --validate=true -f -', {
    input: BOAT('v1', '{length: 3, sails: 2}').replace('fram', 'odd'),
  })
  t.match(unknown.err, modern ? /unknown field "spec\.sails"/ : /unknown field "sails"/)

  t.match(await k.ok('scale boat fram --replicas=13'), 'boat.sea.example.com/fram scaled')
  t.equal(await k.ok("get boat fram -o jsonpath='{.spec.crew}'"), '13')
  t.match(await k.ok(`patch boat fram --type=json -p '[{"op":"replace","path":"/spec/length","value":41}]'`), 'patched')
  if (modern) {
    t.match(
      await k.ok(`patch boat fram --subresource=status --type=merge -p '{"status":{"phase":"Afloat"}}'`),
      'patched',
    )
    t.match(await k.ok(`wait boat/fram --for=jsonpath='{.status.phase}'=Afloat --timeout=${PATIENCE}`), 'condition met')
  }
  t.match(
    (await k.run('apply --server-side -f -', { input: CRD('Ship') })).err,
    'spec.names.kind: Invalid value: "Ship": field is immutable',
  )
  t.match(await k.ok('delete crd boats.sea.example.com'), 'deleted')
  t.match((await k.run('get boats')).err, /NotFound|doesn't have a resource type/)
}
