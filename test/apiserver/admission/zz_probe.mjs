// runs the same requests against a server; prints normalized answers
import { startWebhookServer, webhook, configuration, CONFIGURATIONS } from '/work/main/test/apiserver/admission/webhookServer.ts'
import { accessOf, startTestServer } from '/work/main/test/support/server.ts'
import { Api } from '/work/main/test/support/api.ts'
import t from '/work/main/node_modules/tap/dist/esm/index.js'
const real = process.argv[2] === 'real'
let api
if (real) { const {readFileSync}=await import('node:fs'); api = new Api(accessOf('/tmp/fulli3b/admin.kubeconfig')) } else api=(await startTestServer(t)).api
const hooks = await startWebhookServer(t)
const ns = '/api/v1/namespaces/default/configmaps'
const out=(label, a)=>console.log('##',label,a.code, JSON.stringify(a.body.kind==='Status'?a.body:{data:a.body.data,labels:a.body.metadata?.labels}).replace(/127.0.0.1:\d+/g,'HOST'), a.headers.warning??'')
const cm=(name,data={a:'b'},m={})=>({apiVersion:'v1',kind:'ConfigMap',metadata:{name,...m},data})
const wait=()=>new Promise(r=>setTimeout(r, real?500:50))
const hold=async (kind,name,ws,fn)=>{const r=await api.post(CONFIGURATIONS[kind],configuration(kind,name,ws)); if(r.code!==201) console.log('CONF',r.text); await wait(); await fn(); await api.delete(CONFIGURATIONS[kind]+'/'+name); await wait()}
for (const n of ['x','y','z','s','d']) await api.delete(`${ns}/${n}`)
hooks.on('/deny',()=>({allowed:false,status:{message:'no way'},warnings:['careful']}))
await hold('Validating','v1',[webhook('deny.example.com',hooks.at('/deny'))],async()=>{ out('deny', await api.post(ns,cm('x'))) })
console.log(JSON.stringify(hooks.seen.at(-1)).replace(/[0-9a-f-]{36}/g,'UID').replace(/managedFields":\[.*?\]/,'managedFields":[]').replace(/20\d\d-[^"]*/g,'TIME'))
hooks.on('/deny',()=>({allowed:false}))
await hold('Validating','v2',[webhook('deny.example.com',hooks.at('/deny'))],async()=>{ out('deny plain', await api.post(ns,cm('x'))) })
hooks.on('/deny',()=>({allowed:false,status:{code:409,reason:'Conflict',details:{kind:'k',causes:[{message:'m'}]}}}))
await hold('Validating','v3',[webhook('deny.example.com',hooks.at('/deny'))],async()=>{ out('deny 409', await api.post(ns,cm('x'))) })
hooks.on('/hang',()=>'hang'); hooks.raw('/500',500,{},'boom'); hooks.raw('/redir',302,{location:'/deny'},''); hooks.raw('/404',404,{},'nope')
for (const [p,conf] of Object.entries({hang:{timeoutSeconds:1},500:{},redir:{},404:{},}))
 await hold('Validating','f'+p,[webhook('fail.example.com',hooks.at('/'+p),conf)],async()=>{ out('fail '+p, await api.post(ns,cm('x'))) })
await hold('Validating','fca',[webhook('fail.example.com',{url:hooks.url+'/ok'})],async()=>{ out('fail ca', await api.post(ns,cm('x'))) })
await hold('Validating','fref',[webhook('fail.example.com',{url:'https://127.0.0.1:1/ok'})],async()=>{ out('fail refused', await api.post(ns,cm('x'))) })
await hold('Validating','fsvc',[webhook('fail.example.com',{service:{name:'sv',namespace:'default',path:'/p'}})],async()=>{ out('fail service', await api.post(ns,cm('x'))) })
for (const [l,a] of Object.entries({json:'{"a":',uid:JSON.stringify({apiVersion:'admission.k8s.io/v1',kind:'AdmissionReview',response:{uid:'q',allowed:true}}),noresp:JSON.stringify({apiVersion:'admission.k8s.io/v1',kind:'AdmissionReview'}),kind:JSON.stringify({apiVersion:'admission.k8s.io/v1beta1',kind:'AdmissionReview',response:{}}), empty:'{}'})) {
 hooks.on('/bad',()=>a); await hold('Validating','b'+l,[webhook('bad.example.com',hooks.at('/bad'))],async()=>{ out('bad '+l, await api.post(ns,cm('x'))) }) }
hooks.on('/bad',()=>({allowed:true,patch:[{op:'replace',path:'/nope/x',value:1}]}))
await hold('Mutating','m1',[webhook('mut.example.com',hooks.at('/bad'))],async()=>{ out('bad patch', await api.post(ns,cm('x'))) })
hooks.on('/bad',()=>({allowed:true,patch:[{op:'add',path:'/data',value:7}]}))
await hold('Mutating','m2',[webhook('mut.example.com',hooks.at('/bad'))],async()=>{ out('bad type', await api.post(ns,cm('x'))) })
hooks.on('/bad',()=>({allowed:true,patch:{}}))
await hold('Mutating','m2b',[webhook('mut.example.com',hooks.at('/bad'))],async()=>{ out('bad patch2', await api.post(ns,cm('x'))) })
hooks.on('/bad',()=>({allowed:true,patchType:'x',patch:[]}))
await hold('Mutating','m2c',[webhook('mut.example.com',hooks.at('/bad'))],async()=>{ out('bad patchtype', await api.post(ns,cm('x'))) })
hooks.on('/good',()=>({allowed:true,patch:[{op:'add',path:'/metadata/labels',value:{by:'hook'}},{op:'add',path:'/unknown',value:1}],warnings:['w1']}))
await hold('Mutating','m3',[webhook('mut.example.com',hooks.at('/good'))],async()=>{ out('good', await api.post(ns,cm('y')));
  console.log(JSON.stringify(hooks.seen.at(-1)).replace(/[0-9a-f-]{36}/g,'UID').replace(/20\d\d-[^"]*/g,'TIME'))
  const got=await api.get(ns+'/y'); console.log('managed',JSON.stringify(got.body.metadata.managedFields).replace(/20\d\d-[^"]*/g,'TIME'))
  out('patch', await api.patch(ns+'/y','merge',{data:{a:'c'}})); console.log(JSON.stringify(hooks.seen.at(-1)).replace(/[0-9a-f-]{36}/g,'UID').replace(/managedFields":\[.*?\]/g,'managedFields":[]').replace(/20\d\d-[^"]*/g,'TIME'))
  out('delete', await api.delete(ns+'/y')); console.log(JSON.stringify(hooks.seen.at(-1)).replace(/[0-9a-f-]{36}/g,'UID').replace(/managedFields":\[.*?\]/g,'managedFields":[]').replace(/20\d\d-[^"]*/g,'TIME'))
})
// scale
const dep={apiVersion:'apps/v1',kind:'Deployment',metadata:{name:'d'},spec:{replicas:1,selector:{matchLabels:{a:'b'}},template:{metadata:{labels:{a:'b'}},spec:{containers:[{name:'c',image:'i'}]}}}}
const dp='/apis/apps/v1/namespaces/default/deployments'
await api.post(dp,dep)
hooks.on('/scale',()=>({allowed:true,patch:[{op:'replace',path:'/spec/replicas',value:4}]}))
await hold('Mutating','m4',[webhook('mut.example.com',hooks.at('/scale'),{rules:[{operations:['*'],apiGroups:['*'],apiVersions:['*'],resources:['deployments/scale']}]})],async()=>{ const a=await api.patch(dp+'/d/scale','merge',{spec:{replicas:3}}); console.log('scale',a.code,JSON.stringify(a.body.spec)); console.log(JSON.stringify(hooks.seen.at(-1)).replace(/[0-9a-f-]{36}/g,'UID').replace(/20\d\d-[^"]*/g,'TIME'))})
await api.delete(dp+'/d')
api.close(); setTimeout(()=>process.exit(0),50)
