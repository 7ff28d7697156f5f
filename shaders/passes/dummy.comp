#version 460
layout(local_size_x=1) in;
void main(){}
