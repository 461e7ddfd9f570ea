module kraft-adapter

go 1.22
