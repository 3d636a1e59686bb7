/** Answers for Pods, Services and nodes that cannot be reached: most before any attempt. */
import { del, get, json, post, put, type Rest, type Script } from '../script.ts'
import { NS, of, PODS, pod } from './bodies.ts'

/** The real one asks its kubelet, of which there is none either. */
const NO_KUBELET: Rest = { unlike120: { '': 'there are no kubelets here' } }
const NO_ENDPOINTS: Rest = {
  unlike120: { '': 'it makes Endpoints for Services, and says that the Service is missing' },
}
const SERVICES = `${NS}/services`
const PORT = [{ name: 'http', port: 80, protocol: 'TCP' }]
const MADE: Rest = { only: ['kind'] }
const OF_POD = ['log', 'exec', 'attach', 'portforward', 'proxy']
const two = { containers: ['c', 'd'].map(name => ({ name, image: 'i' })), initContainers: [{ name: 'b', image: 'i' }] }

export const connections: Script = {
  name: 'connections',
  steps: [
    post(PODS, pod('free'), MADE),
    post(PODS, pod('two', two), MADE),
    post(PODS, pod('bound', { nodeName: 'n' }), MADE),
    post(SERVICES, of('v1', 'Service', 's', { spec: { ports: PORT } }), MADE),
    post(SERVICES, of('v1', 'Service', 'empty', { spec: { ports: PORT } }), MADE),
    post(`${NS}/endpoints`, of('v1', 'Endpoints', 'empty', {}), {
      ...MADE,
      unlike120: { 'headers.warning': '1.33: Endpoints are deprecated' },
    }),
    ...['none', 'free'].flatMap(name => OF_POD.map(part => get(`${PODS}/${name}/${part}?command=ls&stdout=true`))),
    ...OF_POD.map(part => get(`${PODS}/two/${part}`, { unlike120: { '?body.message': 'it leaves out the others' } })),
    ...OF_POD.slice(0, -1).map(part => get(`${PODS}/bound/${part}`, NO_KUBELET)),
    get(`${PODS}/bound/proxy`),
    post(`${PODS}/free/exec?command=ls`, undefined),
    post(`${PODS}/none/attach`, undefined),
    post(`${PODS}/bound/portforward`, undefined, NO_KUBELET),
    ...['container=d', 'container=b', 'container=z', 'tailLines=5&follow=true&timestamps=x'].flatMap(query => [
      get(`${PODS}/two/log?${query}`, query.startsWith('tail') ? { unlike120: { '?body.message': 'as above' } } : {}),
    ]),
    get(`${PODS}/two/exec?container=d`),
    get(`${PODS}/bound/exec?container=z`),
    ...[
      'tailLines=-1',
      'tailLines=-1&limitBytes=0',
      'sinceSeconds=0',
      'sinceSeconds=5&sinceTime=2020-01-01T00:00:00Z',
      'sinceTime=2020-01-01T00:00:00Z',
      'tailLines=',
      'tailLines=x',
      'limitBytes=99999999999999999999',
    ].map(query => get(`${PODS}/free/log?${query}`)),
    get(`${PODS}/none/log?tailLines=-1`),
    get(`${PODS}/free/log?sinceTime=x`, { unlike120: { '?body.message': 'it tells its layout' } }),
    post(`${PODS}/free/log`, undefined),
    put(`${PODS}/free/log`, {}),
    put(`${PODS}/free/exec`, {}),
    del(`${PODS}/free/exec`),
    json(`${PODS}/free/attach`, []),
    get(`${PODS}/free/log/x`),
    get('/api/v1/namespaces/nowhere/pods/free/log'),
    ...['free', 'free:80', 'https:free:', ':free:', 'free:80:', 'a:b:c:d', 'none:80'].map(id =>
      get(`${PODS}/${id}/proxy/a/b?c=d`),
    ),
    put(`${PODS}/free/proxy`, {}),
    del(`${PODS}/free/proxy/x`),
    get(`${SERVICES}/s/proxy`, NO_ENDPOINTS),
    ...['none', 'empty', 'empty:http', 'empty:80', 'empty:81', 's:81', 'http:empty:', 'a:b:c:d'].map(id =>
      get(`${SERVICES}/${id}/proxy/`),
    ),
    post(`${SERVICES}/empty/proxy`, undefined),
    get('/api/v1/nodes/nobody/proxy/logs'),
    get('/api/v1/nodes/nobody/log'),
    get(`${PODS}/free/log`, {
      headers: { Accept: 'text/plain' },
      unlike120: { '': 'it refuses the text that its OpenAPI document promises' },
    }),
    get(`${PODS}/free/proxy`, { headers: { Accept: 'text/html' } }),
    get(`${PODS}/free/log`, { as: 'nobody', unlike120: { '?body': 'access to a space is a right of its own' } }),
  ],
}
