/** Message literals of mutation expressions become map literals, and nothing else changes. */
import t from 'tap'
import { withoutMessageTypes } from '../../../src/apiserver/admission/celMessages.ts'

t.test('message literals', async t => {
  const cases: [string, string][] = [
    ['Object{spec: Object.spec{replicas: 3}}', '{"spec": {"replicas": 3}}'],
    ['Object {a: x ? b : c}', '{"a": x ? b : c}'],
    ['Object{a: {b: c}}', '{"a": {b: c}}'],
    ['Object{a: [Object.a{n: f(x, y)}]}', '{"a": [{"n": f(x, y)}]}'],
    [
      '[JSONPatch{op: "add", path: "/a/" + jsonpatch.escapeKey("b/c")}]',
      '[{"op": "add", "path": "/a/" + jsonpatchEscapeKey("b/c")}]',
    ],
    ['"Object{a: 1}" + \'JSONPatch{b: 1}\'', '"Object{a: 1}" + \'JSONPatch{b: 1}\''],
    ['object.Object == 1', 'object.Object == 1'],
    ['Object{a: 1 // Object{b: 1}\n}', '{"a": 1 // Object{b: 1}\n}'],
    ['Object{?a: x.?y, b: 1}', '{"a": x.?y, "b": 1}'],
    ["authorizer.requestResource.check('x')", "authorizerRequestResource.check('x')"],
    ['Other{a: 1}', 'Other{a: 1}'],
  ]
  for (const [source, plain] of cases) t.equal(withoutMessageTypes(source), plain)
})
