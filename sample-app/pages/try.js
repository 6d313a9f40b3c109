// Sends the forms of the documentation: a form alone cannot write paths, headers, cookies or JSON.
for (const form of document.querySelectorAll('form.try')) {
  form.addEventListener('submit', async event => {
    event.preventDefault()
    const { url, init, cookies } = requestOf(form)
    for (const [name, value] of cookies) await globalThis.cookieStore?.set(name, value)
    const response = await fetch(url, init).catch(error => new Response(error.message))
    for (const [name] of cookies) await globalThis.cookieStore?.delete(name)
    const answer = `${response.status} ${response.statusText}\n\n${await response.text()}`
    form.querySelector('output').textContent = `${init.method} ${url}\n${answer}`
  })
}

function requestOf(form) {
  const [query, header, body, cookies] = [new URLSearchParams(), new Headers(), new FormData(), []]
  const init = { method: form.dataset.method.toUpperCase(), headers: header }
  const places = { query, header, form: body }
  let url = form.getAttribute('action')
  for (const { name, value, files, dataset, localName } of form.elements) {
    if (!value) continue
    const values = localName === 'textarea' ? value.split('\n') : [files?.[0] ?? value]
    if (dataset.in === 'path') url = url.replace(`{${name}}`, () => encodeURIComponent(value))
    if (dataset.in === 'cookie') cookies.push([name, value])
    for (const text of values) places[dataset.in]?.append(name, text)
    if (dataset.in === 'body') init.body = value
  }
  if (init.body) header.set('Content-Type', 'application/json')
  else if (form.enctype.startsWith('multipart')) init.body = body
  else if (init.method === 'POST') init.body = new URLSearchParams(body)
  return { url: query.size > 0 ? `${url}?${query}` : url, init, cookies }
}
