// Shows a draft again until it has been read; without scripts a link does the same.
setTimeout(() => location.reload(), 2000);
